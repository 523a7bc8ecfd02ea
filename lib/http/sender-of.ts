import type { Request } from 'express'
import type { Sender } from '../protocol/sender'
import type { NetworkLimits } from './network-limits'
import type { Edge } from './edge'

class SenderOfRequest implements Sender {
  constructor(
    private readonly limits: NetworkLimits,
    private readonly request: Request,
  ) {}

  address(): string | undefined {
    return this.request.ip
  }

  /**
   * The authorization endpoint counts no failures: any page can lead a browser there. But a network that used up its
   * failures elsewhere causes no fetch there.
   */
  get networkRefusal() {
    return this.limits.clients?.refusalOf(this.request)
  }
}

export const senderOf = ({ networkLimits }: Pick<Edge, 'networkLimits'>, request: Request): Sender =>
  new SenderOfRequest(networkLimits, request)
