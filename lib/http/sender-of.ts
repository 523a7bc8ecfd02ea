import type { Request } from 'express'
import type { Sender } from '../protocol/sender'
import type { ServerContext } from '../server/context'

/**
 * The sender of a request. Failures at the authorization endpoint count for no network, because any page can lead a browser
 * there. But a network that has used up its failures at the other endpoints causes no fetch there either.
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
