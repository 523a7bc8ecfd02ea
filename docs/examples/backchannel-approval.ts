import {
  authorizationIdOf,
  invalidGrant,
  mayRefresh,
  OAuthError,
  openRequest,
  pollAuthorization,
  unauthorizedClient,
  type ConsentFact,
  type Endpoint,
  type GrantType,
  type Plugin,
  type PluginServer,
  type Scope,
  type Transition,
} from 'express-authorization-server'

export const backchannelGrant = 'urn:openid:params:grant-type:ciba'

/** What the host shows its owner at a device that it knows, such as in its app. */
export interface Question {
  /** For `decide`, in any process. No secret: the client knows it. */
  readonly id: string
  readonly subject: string
  readonly clientId: string
  readonly scope: Scope
  /** What plug-ins add, such as the resources. */
  readonly facts: readonly ConsentFact[]
  /** What the client shows, too, so that its owner knows which request this is. */
  readonly bindingMessage: string | undefined
}

interface Host {
  /** Finds the owner by the name that the client sends. */
  findOwner(loginHint: string): Promise<string | undefined>
  /** Sends the question, without a wait for the answer. */
  ask(question: Question): Promise<void>
}

const lifetime = 120
const interval = 5
// Seconds in which a client has to come for its tokens after an approval.
const timeToPoll = 60

/**
 * A client that knows its owner waits while the owner approves elsewhere, without a browser: the poll mode of CIBA
 * (OpenID Connect Client-Initiated Backchannel Authentication 1.0), for access tokens alone.
 * No plug-in judges the login of the owner, such as `stepUp()`: the device does.
 */
export function backchannelApproval(host: Host) {
  let server: PluginServer | undefined
  const plugin: Plugin = {
    name: 'backchannel-approval',
    open(opened) {
      server = opened
      return { endpoints: [requestEndpoint(opened, host)], grantTypes: [polls] }
    },
  }
  return {
    plugin,
    /**
     * Resolves to whether this owner was asked, and in time: only the first decision counts.
     *
     * @param subject who is logged in at the device.
     */
    decide: async (id: string, subject: string, approved: boolean): Promise<boolean> => {
      if (server === undefined) throw new Error('No server has the plug-in.')
      return server.commit(id, decision(subject, approved, server.now()))
    },
  }
}

function requestEndpoint(server: PluginServer, host: Host): Endpoint {
  return {
    name: 'backchannel_authentication',
    path: '/backchannel_authentication',
    clientAuthentication: 'confidential',
    usesUpLast: true,
    metadata: { backchannel_token_delivery_modes_supported: ['poll'] },
    async handle(request) {
      const { client, parameters } = request
      if (!client.grant_types.includes(backchannelGrant))
        throw unauthorizedClient('backchannel_not_registered', 'The client is not registered for this grant.')
      const parsed = await server.polledRequests.parse(client, parameters, backchannelGrant)
      const bindingMessage = parameters.get('binding_message')
      if (bindingMessage !== undefined && !/^[\w .-]{1,20}$/.test(bindingMessage))
        throw new OAuthError('invalid_binding_message', 'binding_message_malformed', 'Send a short code.')
      const subject = await host.findOwner(parameters.require('login_hint'))
      if (subject === undefined)
        throw new OAuthError('unknown_user_id', 'login_hint_unknown', 'No owner has this login_hint.')
      await request.useUp?.()
      const pluginData = { interval }
      const { requested, handle } = openRequest(parsed.proposal, server.context(), { lifetime, pluginData })
      await server.begin({ ...requested, subject })
      const { id, scope } = requested
      await host.ask({ id, subject, clientId: client.client_id, scope, facts: parsed.facts, bindingMessage })
      return { members: { auth_req_id: handle, expires_in: lifetime, interval } }
    },
  }
}

const decision =
  (subject: string, approved: boolean, now: number): Transition<boolean> =>
  (current) => {
    // The pace, which goes with the decision, marks the requests of this plug-in.
    const isOpen = current?.state === 'requested' && typeof current.pluginData?.['interval'] === 'number'
    if (!isOpen || current.subject !== subject || current.expiresAt <= now)
      return { action: 'none', outcome: false }
    const { pluginData: _pace, ...asked } = current
    const expiresAt = Math.max(asked.expiresAt, now + timeToPoll)
    return {
      action: 'save',
      authorization: approved
        ? { ...asked, decision: 'approved', grantedAt: now, expiresAt }
        : { ...asked, decision: 'denied' },
      outcome: true,
    }
  }

const polls: GrantType = {
  name: backchannelGrant,
  parameters: ['auth_req_id'],
  credentialParameters: ['auth_req_id'],
  publicClients: false,
  async handle({ client, parameters, context }) {
    const handle = parameters.require('auth_req_id')
    const authorizationId = authorizationIdOf(handle)
    if (authorizationId === undefined)
      throw invalidGrant('auth_req_id_unknown', 'The auth_req_id is unknown.')
    const poll = { handle, clientId: client.client_id, refreshToken: mayRefresh(client) }
    return {
      authorizationId,
      transition(current) {
        const result = pollAuthorization(current, poll, context)
        const isPending = 'refusal' in result && result.refusal.code === 'authorization_pending'
        if (!isPending || current?.state !== 'requested') return result
        const { interval: pace, polledAt } = current.pluginData ?? {}
        if (typeof pace !== 'number') return result
        const since = typeof polledAt === 'number' ? context.now - polledAt : Infinity
        // Times are whole seconds. Within one it is the same poll: no write, so that polls without a pause block no decision.
        if (since <= 1) return result
        const isEarly = since < pace - 1
        const pluginData = { interval: isEarly ? pace + interval : pace, polledAt: context.now }
        return {
          action: 'save',
          authorization: { ...current, pluginData },
          refusal: isEarly ? slowDown : result.refusal,
        }
      },
    }
  },
}

const slowDown = new OAuthError(
  'slow_down',
  'backchannel_poll_early',
  'Wait 5 seconds longer between two polls.',
)
