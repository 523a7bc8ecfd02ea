import type { Authorization, Requested } from '../authorization/authorization'
import { type GrantType, mayRefresh } from '../authorization/grant-type'
import type { Issued } from '../authorization/issue'
import { type Poll, pollAuthorization } from '../authorization/polled'
import { authorizationIdOf, openRequest } from '../authorization/requested'
import type { IssueContext, TransitionResult } from '../authorization/transition'
import type { RenderView } from '../doors/page-endpoint'
import type { PluginServer } from '../doors/plug-in'
import { countAll, tooManyOfNetwork } from '../limits/counters'
import type { Limit } from '../limits/limit'
import { plainAddress } from '../limits/network'
import { isText } from '../primitives/values'
import { passesNetworkLimit } from '../protocol/client'
import type { Endpoint } from '../protocol/endpoint'
import type { ExtensionData } from '../protocol/extension-data'
import { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import type { DeviceView } from './device-pages'
import { createUserCode, type DeviceKey, shownCode } from './user-code'

export const deviceCodeGrant = 'urn:ietf:params:oauth:grant-type:device_code'

// With a million device authorizations, one request in 25,000 meets a code in use.
const attempts = 4

export type GuessLimits = Readonly<Record<'owner' | 'network', Limit | undefined>>

export interface DeviceTerms {
  readonly key: DeviceKey
  readonly lifetime: number
  readonly interval: number
  readonly guesses: GuessLimits
  readonly requests: Limit | undefined
  readonly page: RenderView<DeviceView> | undefined
  readonly endpointPath: string
  readonly pagePath: string
}

/** RFC 8628 3.1 and 3.2. */
export function deviceRequestEndpoint(server: PluginServer, terms: DeviceTerms): Endpoint {
  return {
    name: 'device_authorization',
    path: terms.endpointPath,
    usesUpLast: true,
    async handle(request) {
      const { client, parameters, address } = request
      if (!client.grant_types.includes(deviceCodeGrant)) throw refused('grant_type_not_registered')
      const parsed = await server.polledRequests.parse(client, parameters, deviceCodeGrant)
      const limit = passesNetworkLimit(client) ? undefined : terms.requests
      const limits = tooManyOfNetwork('device_requests_limited', limit, 'device:request', address)
      await countAll(limits, server.counters)
      await request.useUp?.()
      const { lifetime, interval } = terms
      const at = server.now()
      const pluginData = deviceData({ at, address: plainAddress(address), interval, polledAt: undefined })
      // The page of the owner parses the request again, by the registration of then.
      const proposal = { ...parsed.proposal, extensionData: {} }
      const { handle, userCode } = await beginWithNewCode(server, terms, (id) =>
        openRequest(proposal, server.context(), {
          id,
          lifetime,
          pluginData,
          parameters: parsed.parameters,
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
  server: PluginServer,
  { key }: DeviceTerms,
  create: (id: string) => ReturnType<typeof openRequest>,
): Promise<{ readonly handle: string; readonly userCode: string }> {
  for (let attempt = 1; ; attempt++) {
    const userCode = createUserCode(server.random)
    const id = key.idOf(userCode)
    const { requested, handle } = create(id)
    try {
      await server.begin(requested)
      return { handle, userCode }
    } catch (error) {
      const isTaken = !(error instanceof OAuthError) && (await server.find(id)) !== undefined
      if (!isTaken || attempt === attempts) throw error
    }
  }
}

// RFC 8628 3.5: seconds that each early poll adds to the interval.
const slowerBy = 5
// Whole seconds and the network may make a poll a second early. Within a second it is the same poll:
// libraries try one client authentication after another.
const tolerance = 1

export const deviceGrant: GrantType = {
  name: deviceCodeGrant,
  parameters: ['device_code'],
  credentialParameters: ['device_code'],
  async handle({ client, parameters, context }) {
    const handle = parameters.require('device_code')
    const authorizationId = authorizationIdOf(handle)
    if (authorizationId === undefined) throw refused('handle_unknown')
    const poll = { handle, clientId: client.client_id, refreshToken: mayRefresh(client) }
    return {
      authorizationId,
      transition: (current) => pollDevice(current, poll, context),
    }
  },
}

/**
 * RFC 8628 3.5: an early poll lengthens the interval for good. However early a client polls, it gets a decision at
 * once.
 */
function pollDevice(
  current: Authorization | undefined,
  poll: Poll,
  context: IssueContext,
): TransitionResult<Issued> {
  const result = pollAuthorization(current, poll, context)
  const isPending = 'refusal' in result && result.refusal.code === 'authorization_pending'
  const data = current?.state === 'requested' ? deviceDataIn(current) : undefined
  if (!isPending || current?.state !== 'requested' || data === undefined) return result
  const { now } = context
  const sinceLast = data.polledAt === undefined ? Infinity : Math.abs(now - data.polledAt)
  // No write: polls without a pause must not block the owner's decision.
  if (sinceLast <= tolerance) return result
  const isEarly = sinceLast < data.interval - tolerance
  const interval = isEarly ? data.interval + slowerBy : data.interval
  const authorization = { ...current, pluginData: deviceData({ ...data, interval, polledAt: now }) }
  return { action: 'save', authorization, refusal: isEarly ? refused('device_poll_early') : result.refusal }
}

/** What a device authorization keeps with its request until the decision. */
interface DeviceData {
  /** Seconds since the epoch. */
  readonly at: number
  readonly address: string | undefined
  /** Seconds. */
  readonly interval: number
  readonly polledAt: number | undefined
}

const deviceData = ({ at, address, interval, polledAt }: DeviceData): ExtensionData => ({
  at,
  interval,
  ...(address !== undefined && { address }),
  ...(polledAt !== undefined && { polledAt }),
})

export function deviceDataIn({ pluginData = {} }: Requested): DeviceData | undefined {
  const { at, address, interval, polledAt } = pluginData
  if (typeof at !== 'number' || typeof interval !== 'number') return undefined
  return {
    at,
    address: isText(address) ? address : undefined,
    interval,
    polledAt: typeof polledAt === 'number' ? polledAt : undefined,
  }
}
