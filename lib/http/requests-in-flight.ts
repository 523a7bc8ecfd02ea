import type { Socket } from 'node:net'
import type { Request, Response } from 'express'
import { type OAuthError, temporarilyUnavailable } from '../protocol/oauth-error'

/** What a request is told that comes after the closing began. */
export const closing = (): OAuthError => temporarilyUnavailable('closing', 'The server is shutting down.')

/** The requests that are being answered: a closing waits for them and turns new ones away. */
export class RequestsInFlight {
  private readonly onSocket = new WeakMap<Socket, Set<Response>>()
  private count = 0
  private closed = false
  private noneLeft = () => {}

  get isClosed(): boolean {
    return this.closed
  }

  /** Whether the request may be served. One that came before the closing may, at every part that it passes. */
  enter({ socket }: Request, response: Response): boolean {
    const open = this.onSocket.get(socket)
    if (open?.has(response) === true) return true
    if (this.closed) {
      // RFC 9112 9.6: whoever kept the connection would come again to a process that leaves.
      if (!response.headersSent) response.setHeader('Connection', 'close')
      return false
    }
    // What is gone already will not close a second time.
    if (!response.destroyed && !socket.destroyed) this.follow(open ?? this.followSocket(socket), response)
    return true
  }

  /** Lets no new request in. Resolves when none is left, or after so many seconds. */
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

  private follow(open: Set<Response>, response: Response): void {
    open.add(response)
    this.count += 1
    response.on('close', () => this.leave(open, response))
  }

  // A pipelined response that waits for its turn when the connection ends never closes by itself.
  private followSocket(socket: Socket): Set<Response> {
    const open = new Set<Response>()
    this.onSocket.set(socket, open)
    socket.once('close', () => {
      for (const response of open) this.leave(open, response)
    })
    return open
  }

  private leave(open: Set<Response>, response: Response): void {
    if (!open.delete(response)) return
    this.count -= 1
    if (this.count === 0) this.noneLeft()
  }
}
