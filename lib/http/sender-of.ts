import type { Request } from 'express'
import type { Sender } from '../protocol/sender'
import type { Edge } from './edge'

export class SenderOfRequest implements Sender {
  constructor(
    protected readonly server: Edge,
    protected readonly request: Request,
  ) {}

  get address(): string | undefined {
    return this.request.ip
  }

  /**
   * The authorization endpoint counts no failures: any page can lead a browser there. But a network that used up its
   * failures elsewhere causes no fetch there.
   */
  get networkRefusal() {
    return this.server.networkLimits.clients?.refusalOf(this.request)
  }
}

export const senderOf = (server: Edge, request: Request): Sender => new SenderOfRequest(server, request)
