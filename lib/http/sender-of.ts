import type { Request } from 'express'
import type { Sender } from '../protocol/sender'
import type { ServerContext } from '../server/context'

/**
 * The authorization endpoint counts no failures: any page can lead a browser there. But a network that used
 * up its failures elsewhere causes no fetch there.
 */
export const senderOf = (
  { networkLimits }: Pick<ServerContext, 'networkLimits'>,
  request: Request,
): Sender => ({
  address: () => request.ip,
  get networkRefusal() {
    return networkLimits.clients?.refusalOf(request)
  },
})
