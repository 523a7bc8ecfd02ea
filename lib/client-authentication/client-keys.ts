import type { DocumentFetch, DocumentInquiry } from '../clients/document-fetch/document-fetch'
import { isUnanswered } from '../clients/document-fetch/document-unavailable'
import type { FetchedDocument } from '../clients/document-fetch/request-document'
import { FetchedKeys, KeySet, type KeySource } from '../jwt/key-source'
import { parsePublicKeys } from '../jwt/public-keys'
import { type Client, isRegisteredByHost } from '../protocol/client'
import { BoundedMap } from '../primitives/maps'
import { isList, isRecord, isText } from '../primitives/values'
import type { Json } from '../protocol/json'
import { privateState } from '../primitives/private-state'
import { Throttled } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import type { Sender } from '../protocol/sender'
import { plainUrl } from '../protocol/uri'
import type { AuthenticatingServer } from './method'

// Fewer than published ones: a registration is parsed more often, and strangers register keys, too.
export const registeredAtMost = 12
export const publishedAtMost = 32
// Bytes: a dozen keys with certificates.
export const largestKeySet = 64 * 1024
export const setsAtMost = 2000

export class ClientKeys {
  static readonly none = new KeySet([])

  private readonly registered = privateState<Client, KeySource>()
  // Per server: another one may fetch from other networks.
  private readonly published = new WeakMap<DocumentFetch, BoundedMap<FetchedKeys>>()

  constructor(
    private readonly credentialOf: (client: Client) => Json | undefined,
    private readonly documents: DocumentFetch | undefined,
  ) {}

  of(client: Client, server: Pick<AuthenticatingServer, 'documents'>, sender: Sender): KeySource | undefined {
    const credential = this.credentialOf(client)
    if (credential === undefined) return undefined
    const uri = isRecord(credential) ? credential['jwks_uri'] : undefined
    if (isText(uri)) return this.publishedAt(uri, client, this.documents ?? server.documents, sender)
    const known = this.registered.get(client)
    if (known !== undefined) return known
    const keys = new KeySet(parsePublicKeys(credential)?.keys ?? [])
    this.registered.set(client, keys)
    return keys
  }

  private publishedAt(uri: string, client: Client, documents: DocumentFetch, sender: Sender): KeySource {
    const isOfHost = isRegisteredByHost(client)
    const sets = this.published.get(documents) ?? new BoundedMap<FetchedKeys>(setsAtMost)
    this.published.set(documents, sets)
    // A stranger who names another client's URL shares no fetch with it.
    const name = `${isOfHost} ${uri}`
    const keys = sets.get(name) ?? new FetchedKeys(uri, { unavailable, isPrevented })
    sets.set(name, keys)
    const fetchDocument = () => {
      if (sender.networkRefusal !== undefined) throw sender.networkRefusal
      return fetchKeys(uri, documents, isOfHost ? {} : { sender })
    }
    return { find: (now, header) => keys.find(now, header, fetchDocument) }
  }
}

// By the code of another refusal, the client could give up its registration.
const unavailable = (cause: unknown) =>
  cause instanceof Throttled ? cause : refused('client_keys_unavailable', {}, { cause })

const isPrevented = (cause: unknown): boolean => cause instanceof Throttled || isUnanswered(cause)

// A P-521 key takes up to two milliseconds: a stranger's hundreds must not hold up the process.
async function fetchKeys(
  uri: string,
  documents: DocumentFetch,
  inquiry: DocumentInquiry,
): Promise<FetchedDocument> {
  const document = await documents.fetch(uri, largestKeySet, inquiry)
  const keys = isRecord(document.json) ? document.json['keys'] : undefined
  if (isList(keys) && keys.length > publishedAtMost)
    throw new Error(`A client publishes more than ${publishedAtMost} keys.`)
  return document
}

export function mistakeInKeys(credential: Json): string | undefined {
  if (!isRecord(credential)) return neither
  const { keys: given, jwks_uri: uri } = credential
  if ((given === undefined) === (uri === undefined)) return neither
  if (uri !== undefined)
    return isText(uri) && plainUrl(uri)?.protocol === 'https:'
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
