import type { Response } from 'express'

/** Adapters of functions have one without events, or none. */
interface Emitting {
  readonly destroyed?: boolean
  once?(event: 'close', listener: () => void): unknown
}

export class RequestsInFlight {
  private readonly onSocket = new WeakMap<object, Response[]>()
  private count = 0
  private closed = false
  private noneLeft = () => {}

  get isClosed(): boolean {
    return this.closed
  }

  /** A request from before closing may pass every part of the server. */
  enter(request: { readonly socket?: Emitting }, response: Response): boolean {
    const socket = request.socket ?? response
    const open = this.onSocket.get(socket)
    if (open?.includes(response) === true) return true
    if (this.closed) {
      // RFC 9112 9.6: a kept connection would send its next request to a process that ends.
      if (!response.headersSent) response.setHeader('Connection', 'close')
      return false
    }
    // Neither emits `close` again once destroyed.
    if (!response.destroyed && !socket.destroyed) this.follow(open ?? this.followSocket(socket), response)
    return true
  }

  async close(seconds: number): Promise<void> {
    this.closed = true
    if (this.count === 0) return
    await new Promise<void>((resolve) => {
      const bound = setTimeout(resolve, seconds * 1000)
      this.noneLeft = () => {
        clearTimeout(bound)
        resolve()
      }
    })
  }

  private follow(open: Response[], response: Response): void {
    open.push(response)
    this.count += 1
    // Without a connection of Node, a response emits no `close`.
    response.on('finish', () => this.leave(open, response))
  }

  // If the connection ends, none of its responses finishes.
  private followSocket(socket: Emitting): Response[] {
    const open: Response[] = []
    this.onSocket.set(socket, open)
    socket.once?.('close', () => {
      for (const response of open.slice()) this.leave(open, response)
    })
    return open
  }

  private leave(open: Response[], response: Response): void {
    const at = open.indexOf(response)
    if (at < 0) return
    const last = open.pop()
    if (last !== undefined && last !== response) open[at] = last
    this.count -= 1
    if (this.count === 0) this.noneLeft()
  }
}
