import { createUnclaimedAuthorization } from '../authorization/claim'
import type { PlugInServer } from '../doors/plug-in'
import type { Endpoint } from '../protocol/endpoint'
import { refused } from '../protocol/refusals'
import type { CountPush } from './push-shares'
import { refuseRequestUri, requestUriPrefix } from './resolve-pushed'

interface PushTerms {
  readonly path: string
  /** Seconds. */
  readonly lifetime: number
  readonly required: boolean
  readonly count: CountPush
}

// Characters in form encoding.
const largestRequest = 16 * 1024

/** RFC 9126 2. */
export function pushEndpoint(server: PlugInServer, { path, lifetime, required, count }: PushTerms): Endpoint {
  return {
    name: 'pushed_authorization_request',
    path,
    cors: true,
    usesUpLast: true,
    // RFC 9126 2.3
    errorStatus: { body_too_large: 413, pushed_request_too_large: 413 },
    ...(required && { metadata: { require_pushed_authorization_requests: true } }),
    async handle(request) {
      const { client, parameters, evidence, address, sender } = request
      refuseRequestUri(parameters)
      const parsed = await server.parseAuthorizationRequest(client, parameters, evidence, sender)
      if (parsed.parameters.length > largestRequest) throw refused('pushed_request_too_large')
      count(client, address)
      await request.useUp?.()
      const { unclaimed, handle } = createUnclaimedAuthorization(
        // Parsed again for its owner, by the registration of then.
        { ...parsed.proposal, extensionData: {} },
        server.context(),
        { parameters: parsed.parameters, lifetime },
      )
      await server.begin(unclaimed)
      return { status: 201, members: { request_uri: requestUriPrefix + handle, expires_in: lifetime } }
    },
  }
}
