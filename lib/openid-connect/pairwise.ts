import { createHmac } from 'node:crypto'
import { isText } from '../primitives/values'
import { type Client, isRegisteredByHost } from '../protocol/client'
import { isLoopback, plainUrl } from '../protocol/uri'

export type SubjectFor = (subject: string, client: Client) => string

export const publicSubject: SubjectFor = (subject) => subject

/** OpenID Connect Core 8.1: one identifier for each sector. */
export function pairwiseSubjects(secret: string): SubjectFor {
  return (subject, client) => {
    if (client.members['subject_type'] !== 'pairwise') return subject
    const sector = sectorOf(client)
    // The registration refuses such a client. The identifier of the host must not stand in.
    if (sector === undefined) throw new Error('A client with pairwise subjects has no sector.')
    return createHmac('sha256', secret)
      .update(JSON.stringify([sector, subject]))
      .digest('base64url')
  }
}

// With these, what tells the owner goes to a redirection URI, or there is no owner.
const atRedirectionUri = new Set(['authorization_code', 'implicit', 'refresh_token', 'client_credentials'])

/** Such as the grant type of devices. */
export const answersElsewhere = ({ grant_types }: Client): boolean =>
  grant_types.some((name) => !atRedirectionUri.has(name))

/**
 * The host of the `sector_identifier_uri`, or of the metadata document, or the one host of all redirection
 * URIs; else undefined: apps on loopback and with a scheme of an app have no host of their own. Anybody may
 * name the redirection URI of others: it counts only where each answer goes there, or where the host has
 * registered the client.
 */
export function sectorOf(client: Client): string | undefined {
  const { client_id, redirect_uris, members } = client
  const uri = members['sector_identifier_uri']
  if (isText(uri)) return hostOf(uri)
  const ofDocument = client_id.startsWith('https://') ? hostOf(client_id) : undefined
  if (ofDocument !== undefined) return ofDocument
  if (answersElsewhere(client) && !isRegisteredByHost(client)) return undefined
  const hosts = new Set(redirect_uris.map(hostOf))
  const [host] = hosts
  return hosts.size === 1 && host !== undefined && !isLoopback(host) ? host : undefined
}

function hostOf(uri: string): string | undefined {
  const url = plainUrl(uri)
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.hostname : undefined
}
