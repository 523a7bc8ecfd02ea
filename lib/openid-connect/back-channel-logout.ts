import { aFlag } from '../primitives/fields'
import { type Fields, group, switched } from '../primitives/schema'
import { setTimeout } from 'node:timers/promises'
import {
  addressLookup,
  authorities,
  type DocumentFetchOptions,
} from '../clients/document-fetch/document-fetch'
import { mayPass, postForm } from '../clients/document-fetch/post-form'
import { type Client, isRegisteredByHost } from '../protocol/client'
import { createId } from '../protocol/credential'
import { bareError } from '../protocol/oauth-error'
import { algorithmOf } from './client-members'
import type { IdentityTerms } from './id-token'

export interface BackChannelLogoutOptions {
  /** Certificate authorities, as in `node:tls`. Default: those of Node. */
  readonly ca?: DocumentFetchOptions['ca']
  /**
   * Whether the logout tokens of clients that the host registered may go to addresses inside the network,
   * over https. A wrong `backchannel_logout_uri` then reaches programs that trust the network. Default false.
   */
  readonly insideNetwork?: boolean
  /** Finds the addresses of a host. Default: DNS. */
  readonly lookup?: DocumentFetchOptions['lookup']
}

export type AnnounceLogout = (subject: string) => Promise<void>

const type = 'logout+jwt'
const event = 'http://schemas.openid.net/event/backchannel-logout'
const endpoint = 'back_channel_logout'
const reason = 'logout_not_delivered'

// Seconds. Back-Channel Logout 1.0, 4: two minutes at most.
const tokenLifetime = 120
// Milliseconds before each attempt, for a client that restarts.
const pauses = [0, 5000, 30_000]
const clientsAtMost = 1000

/** Back-Channel Logout 1.0. Settles after the last attempt, and never rejects. */
export function announcing(
  { server, ring, algorithm, subjectFor }: IdentityTerms,
  options: BackChannelLogoutOptions,
): AnnounceLogout {
  const post = postForm({
    issuer: server.issuer,
    clock: () => server.now() * 1000,
    ...options,
  })

  const tokenFor = (client: Client, subject: string) => {
    const iat = server.now()
    return ring.sign(algorithmOf(client, ring.algorithms, algorithm), type, {
      iss: server.issuer,
      sub: subjectFor(subject, client),
      aud: client.client_id,
      iat,
      exp: iat + tokenLifetime,
      jti: createId(server.random),
      // Back-Channel Logout 1.0, 2.4: no nonce, so it is no ID token.
      events: { [event]: {} },
    })
  }

  const tell = async (clientId: string, subject: string) => {
    const client = await server.findClient(clientId)
    const uri = client?.members['backchannel_logout_uri']
    if (client === undefined || client.disabled || typeof uri !== 'string') return
    const form = async () => new URLSearchParams({ logout_token: await tokenFor(client, subject) }).toString()
    await deliver(() => post(uri, form, isRegisteredByHost(client)))
  }

  const report = (subject: string, clientId: string | undefined) => (thrown: unknown) =>
    server.reportFailure({ endpoint, reason, clientId, subject, cause: bareError(thrown) })

  return async (subject) => {
    try {
      const entries = await server.authorizationsOf(subject)
      // A client without an ID token must not learn who the owner is.
      const clients = [...new Set(entries.flatMap(({ clientId, openId }) => (openId ? [clientId] : [])))]
      const told = clients.slice(0, clientsAtMost)
      await Promise.all(told.map((id) => tell(id, subject).catch(report(subject, id))))
      if (clients.length > clientsAtMost)
        throw new Error(`The owner has ${clients.length} clients, and ${clientsAtMost} were told.`)
    } catch (thrown) {
      report(subject, undefined)(thrown)
    }
  }
}

async function deliver(send: () => Promise<number>): Promise<void> {
  let failure: unknown
  for (const pause of pauses) {
    if (pause > 0) await setTimeout(pause, undefined, { ref: false })
    try {
      const status = await send()
      // Back-Channel Logout 1.0, 2.8; some frameworks say 204.
      if (status === 200 || status === 204) return
      failure = new Error(`The client answered the logout token with ${status}.`)
      if (status < 500) break
    } catch (error) {
      failure = error
      if (!mayPass(error)) break
    }
  }
  throw failure
}

export const backChannelLogoutOption = switched(
  group({
    ca: authorities,
    lookup: addressLookup,
    insideNetwork: aFlag(false),
  } satisfies Fields<BackChannelLogoutOptions>),
)
