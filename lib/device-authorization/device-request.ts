import { createHmac } from 'node:crypto'
import type { Authorization, Requested } from '../authorization/authorization'
import { type GrantType, mayRefresh } from '../authorization/grant-type'
import type { Issued } from '../authorization/issue'
import { type Poll, pollAuthorization } from '../authorization/redeem'
import { authorizationIdOf, openRequest } from '../authorization/requested'
import type { IssueContext, TransitionResult } from '../authorization/transition'
import type { PluginServer } from '../doors/plug-in'
import { countAll, tooManyOfNetwork } from '../limits/counters'
import type { Limit } from '../limits/limit'
import { plainAddress } from '../limits/network'
import { isAbsentOr, isRecord, isText } from '../primitives/values'
import { passesNetworkLimit } from '../protocol/client'
import type { Random } from '../protocol/credential'
import type { Endpoint } from '../protocol/endpoint'
import { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'

export const deviceCodeGrant = 'urn:ietf:params:oauth:grant-type:device_code'

// With a million device authorizations, one request in 25,000 meets a code in use.
const attempts = 4

export interface DeviceTerms {
  readonly key: DeviceKey
  readonly lifetime: number
  readonly interval: number
  readonly requests: Limit | undefined
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
      const requestedFrom = plainAddress(address)
      const pluginData = { at: server.now(), interval, ...(requestedFrom !== undefined && { requestedFrom }) }
      const choices = { lifetime, pluginData, parameters: parsed.parameters }
      // The page parses again, by the registration of then.
      const proposal = { ...parsed.proposal, extensionData: {} }
      const { handle, userCode } = await beginWithNewCode(server, terms.key, (id) =>
        openRequest(proposal, server.context(), { ...choices, id }),
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

async function beginWithNewCode(
  server: PluginServer,
  key: DeviceKey,
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

// RFC 8628 3.5.
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
 * RFC 8628 3.5: an early poll lengthens the interval for good. However early, a poll gets a decision at once.
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
  const authorization = { ...current, pluginData: { ...data, interval, polledAt: now } }
  return { action: 'save', authorization, refusal: isEarly ? refused('device_poll_early') : result.refusal }
}

/** Seconds, and seconds since the epoch. */
type DeviceData = {
  readonly at: number
  readonly requestedFrom?: string
  readonly interval: number
  readonly polledAt?: number
}

export const deviceDataIn = ({ pluginData }: Requested): DeviceData | undefined =>
  isDeviceData(pluginData) ? pluginData : undefined

function isDeviceData(data: unknown): data is DeviceData {
  if (!isRecord(data)) return false
  const { at, requestedFrom, interval, polledAt } = data
  return (
    isNumber(at) && isAbsentOr(isText, requestedFrom) && isNumber(interval) && isAbsentOr(isNumber, polledAt)
  )
}

const isNumber = (value: unknown): value is number => typeof value === 'number'

// RFC 8628 6.1: no vowels; 20^8 codes are 34.5 bits.
export const letters = 'BCDFGHJKLMNPQRSTVWXZ'
export const length = 8
const grammar = new RegExp(`^[${letters}]{${length}}$`)
// Bytes below have each letter equally often.
const fairBytes = 256 - (256 % letters.length)

function createUserCode(random: Random): string {
  let code = ''
  while (code.length < length)
    for (const byte of Buffer.from(random(11), 'base64url'))
      if (byte < fairBytes) code += letters.charAt(byte % letters.length)
  return code.slice(0, length)
}

export const shownCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`

export function parseUserCode(typed: string): string | undefined {
  const code = typed
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[\p{P}\p{Z}\p{S}\p{C}]/gu, '')
  return grammar.test(code) ? code : undefined
}

export class DeviceKey {
  constructor(
    private readonly key: string | Buffer,
    private readonly issuer: string,
  ) {}

  /** There are too few codes for a plain digest. */
  idOf(userCode: string): string {
    return this.mac('user code', userCode).subarray(0, 16).toString('base64url')
  }

  /** The consent token of the page: who has the code and the store cannot derive it. */
  consentSecret(id: string, subject: string): string {
    return this.mac('consent token', id, subject).toString('base64url')
  }

  /** Only this owner's page has it. */
  formText(subject: string): string {
    return this.mac('code form', subject).toString('base64url')
  }

  private mac(...parts: readonly string[]): Buffer {
    return createHmac('sha256', this.key)
      .update(JSON.stringify([this.issuer, ...parts]))
      .digest()
  }
}
