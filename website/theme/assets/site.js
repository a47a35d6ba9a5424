// The theme makes a landmark for the buttons of each block of code. A page has dozens of them, all without a name.
const plain = (node) => node.querySelectorAll?.("nav.md-code__nav").forEach((nav) => nav.setAttribute("role", "presentation"));

new MutationObserver((changes) => changes.forEach(({ addedNodes }) => addedNodes.forEach((node) => plain(node.parentNode ?? node))))
  .observe(document.documentElement, { childList: true, subtree: true });
plain(document);
