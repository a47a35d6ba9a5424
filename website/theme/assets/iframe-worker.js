// Browsers start no workers for pages that are opened from disk. The search then runs in a hidden frame instead.
// MkDocs Material would load a script for this from another host.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    #frame = document.createElement("iframe");
    #waiting = [];

    constructor(url) {
      super();
      this.#frame.hidden = true;
      this.#frame.title = "Search";
      this.#frame.srcdoc = "<!doctype html>";
      this.#frame.onload = () => this.#start(url);
      document.body.append(this.#frame);
    }

    #start(url) {
      const { contentWindow: inner, contentDocument: page } = this.#frame;
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = page.createElement("script");
      script.src = url;
      script.onload = () => {
        const waiting = this.#waiting;
        this.#waiting = null;
        waiting.forEach((data) => this.postMessage(data));
      };
      page.head.append(script);
    }

    postMessage(data) {
      if (this.#waiting) this.#waiting.push(data);
      else this.#frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
    }

    terminate() {
      this.#frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
