// Requests to the studio. A channel has one request under way and remembers only the newest other.

const page = Math.random().toString(36).slice(2);
let number = 0;

export async function ask(name, body = {}) {
  const answer = await fetch(`api/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...body, page }),
  }).catch(() => { throw new Error("the studio does not answer: was it stopped in the terminal?"); });
  const binary = answer.headers.get("Content-Type") === "application/octet-stream";
  const content = binary ? await answer.blob() : await answer.json();
  if (!answer.ok) throw new Error(content.error || "something went wrong");
  return content;
}

export class Channel {
  constructor(name, done, failed) {
    Object.assign(this, { name, done, failed, busy: false, next: null, times: [] });
  }

  send(body, started = performance.now()) {
    this.next = { body, started };
    if (!this.busy) this.work();
  }

  async work() {
    this.busy = true;
    while (this.next) {
      const { body, started } = this.next;
      this.next = null;
      try {
        const answer = await ask(this.name, { ...body, seq: ++number });
        if (!answer.stale) {
          this.done(answer, body);
          this.times.push(performance.now() - started);
        }
      } catch (error) {
        if (!this.next) this.failed(error);
      }
    }
    this.busy = false;
  }
}

export function download(name, content, type = "application/octet-stream") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
