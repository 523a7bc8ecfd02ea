import { createPolledAuthorization } from '../authorization/polled'
import type { PlugInServer } from '../doors/plug-in'
import { plainAddress } from '../limits/network'
import type { Endpoint } from '../protocol/endpoint'
import { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import type { DeviceTerms } from './device-terms'
import { countRequest } from './guesses'
import { withKept } from './kept-request'
import { createUserCode, shownCode } from './user-code'

export const deviceCodeGrant = 'urn:ietf:params:oauth:grant-type:device_code'

// Seconds for which the record outlives the user code: a slow client still hears `expired_token`.
const afterlife = 120
// With a million device authorizations, one request in 25,000 meets a code in use.
const attempts = 4

/** RFC 8628 3.1 and 3.2. */
export function deviceRequestEndpoint(server: PlugInServer, terms: DeviceTerms): Endpoint {
  return {
    name: 'device_authorization',
    path: terms.endpointPath,
    usesUpLast: true,
    async handle(request) {
      const { client, parameters, address } = request
      if (!client.grant_types.includes(deviceCodeGrant)) throw refused('grant_type_not_registered')
      const { proposal, facts } = await server.polledRequests.parse(client, parameters, deviceCodeGrant)
      await countRequest(server.counters, terms.requests, request)
      await request.useUp?.()
      const { lifetime, interval } = terms
      const at = server.now()
      const until = at + lifetime
      const kept = { at, until, address: plainAddress(address), facts, interval, polledAt: undefined }
      const { handle, userCode } = await beginWithNewCode(server, terms, (id) =>
        createPolledAuthorization(withKept(proposal, kept), server.context(), {
          id,
          lifetime: lifetime + afterlife,
        }),
      )
      const verification_uri = server.urlOf(terms.pagePath)
      const user_code = shownCode(userCode)
      return {
        members: {
          device_code: handle,
          user_code,
          verification_uri,
          verification_uri_complete: `${verification_uri}?user_code=${user_code}`,
          expires_in: lifetime,
          interval,
        },
      }
    },
  }
}

/** A code may be taken: its id stays in use while its authorization lives. */
async function beginWithNewCode(
  server: PlugInServer,
  { key }: DeviceTerms,
  create: (id: string) => ReturnType<typeof createPolledAuthorization>,
): Promise<{ readonly handle: string; readonly userCode: string }> {
  for (let attempt = 1; ; attempt++) {
    const userCode = createUserCode(server.random)
    const id = key.idOf(userCode)
    const { polled, handle } = create(id)
    try {
      await server.begin(polled)
      return { handle, userCode }
    } catch (error) {
      const isTaken = !(error instanceof OAuthError) && (await server.find(id)) !== undefined
      if (!isTaken || attempt === attempts) throw error
    }
  }
}
