import type { DocumentFetch } from '../clients/document-fetch/document-fetch'
import { givenKeys, type KeySource, type KeysUnavailable } from '../jwt/key-source'
import { parsePublicKeys } from '../jwt/public-keys'
import type { Client } from '../protocol/client'
import { isList, isRecord, isText } from '../primitives/values'
import type { Json } from '../protocol/json'
import { privateState } from '../primitives/private-state'
import { type OAuthError, Throttled } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import type { Sender } from '../protocol/sender'
import { plainUrl } from '../protocol/uri'
import type { AuthenticatingServer } from './method'
import { PublishedKeys } from './published-keys'

// Fewer than in a published set: a registration is parsed more often, and strangers register keys, too.
const registeredAtMost = 12

export class ClientKeys {
  static readonly none = givenKeys([])

  private readonly registered = privateState<Client, KeySource>()
  // Per server: another one may fetch from other networks.
  private readonly published = new WeakMap<DocumentFetch, PublishedKeys>()

  constructor(
    private readonly credentialOf: (client: Client) => Json | undefined,
    private readonly documents: DocumentFetch | undefined,
  ) {}

  of(
    client: Client,
    server: Pick<AuthenticatingServer, 'documents'>,
    sender: Sender | undefined,
  ): KeySource | undefined {
    const credential = this.credentialOf(client)
    if (credential === undefined) return undefined
    const uri = publishedAt(credential)
    if (uri === undefined) return this.registeredOf(client, credential)
    return this.publishedBy(this.documents ?? server.documents).of(client, uri, sender)
  }

  private registeredOf(client: Client, credential: Json): KeySource {
    const known = this.registered.get(client)
    if (known !== undefined) return known
    const keys = givenKeys(parsePublicKeys(credential)?.keys ?? [])
    this.registered.set(client, keys)
    return keys
  }

  private publishedBy(documents: DocumentFetch): PublishedKeys {
    const known = this.published.get(documents)
    if (known !== undefined) return known
    const published = new PublishedKeys(documents)
    this.published.set(documents, published)
    return published
  }
}

function publishedAt(credential: Json): string | undefined {
  const uri = isRecord(credential) ? credential['jwks_uri'] : undefined
  return isText(uri) ? uri : undefined
}

export function mistakeInKeys(credential: Json): string | undefined {
  if (!isRecord(credential)) return neither
  const { keys: given, jwks_uri: uri } = credential
  if ((given === undefined) === (uri === undefined)) return neither
  if (uri !== undefined)
    return isText(uri) && isHttps(uri)
      ? undefined
      : 'must have as jwks_uri an https URL without user name, password and fragment.'
  if (isList(given) && given.length > registeredAtMost) return `must have at most ${registeredAtMost} keys.`
  const { keys, problems } = parsePublicKeys(credential) ?? { keys: [], problems: [] }
  const [problem] = problems
  if (problem !== undefined) return `must hold public keys, but keys[${problem.index}] ${problem.message}`
  return keys.length > 0 ? undefined : neither
}

const neither =
  'must be a JWK set with a public key for signatures, { keys: [...] }, or the URL of one, { jwks_uri }, and not both.'

export function keysRefusal({ cause }: KeysUnavailable): OAuthError {
  if (cause instanceof Throttled) return cause
  // With another code, the client could give up its registration.
  return refused('client_keys_unavailable', {}, { cause })
}

const isHttps = (uri: string): boolean => plainUrl(uri)?.protocol === 'https:'
