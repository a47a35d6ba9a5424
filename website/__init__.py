"""The docs as a site: what MkDocs needs besides the pages."""
