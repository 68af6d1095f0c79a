// Browsers do not start workers for pages opened from disk: there, run the search in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.append(this.frame)
      const inside = this.frame.contentWindow
      this.loaded = new Promise(done => this.frame.addEventListener("load", done))
      inside.document.open()
      inside.document.write("<script>postMessage = data => parent.postMessage(data, '*')</" + "script>"
        + `<script src="${new URL(url, location)}"></` + "script>")
      inside.document.close()
      window.addEventListener("message", event => {
        if (event.source === inside) this.onmessage?.(event)
      })
    }
    postMessage(data) {
      const message = new MessageEvent("message", {data: structuredClone(data)})
      this.loaded.then(() => this.frame.contentWindow?.dispatchEvent(message))
    }
    terminate() {
      this.frame.remove()
    }
  }
}
