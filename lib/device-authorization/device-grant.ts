import type { Authorization } from '../authorization/authorization'
import { authorizationIdOf } from '../authorization/claim'
import { type Poll, pollAuthorization } from '../authorization/polled'
import type { Issued } from '../authorization/issue'
import type { IssueContext, TransitionResult } from '../authorization/transition'
import { refused } from '../protocol/refusals'
import { type GrantType, mayRefresh } from '../authorization/grant-type'
import { deviceCodeGrant } from './device-request'
import { keptIn, withKept } from './kept-request'

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
  if (!isPending || current?.state !== 'polled') return result
  const kept = keptIn(current)
  if (kept === undefined) return result
  const { now } = context
  if (kept.until <= now) return { action: 'none', refusal: refused('authorization_request_expired/poll') }
  const sinceLast = kept.polledAt === undefined ? Infinity : Math.abs(now - kept.polledAt)
  // No write: polls without a pause must not block the owner's decision.
  if (sinceLast <= tolerance) return result
  const isEarly = sinceLast < kept.interval - tolerance
  const interval = isEarly ? kept.interval + slowerBy : kept.interval
  const authorization = withKept(current, { ...kept, interval, polledAt: now })
  return { action: 'save', authorization, refusal: isEarly ? early() : result.refusal }
}

const early = () => refused('device_poll_early')
