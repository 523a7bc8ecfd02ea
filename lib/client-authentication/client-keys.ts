import type { DocumentFetch, FetchedDocument } from '../document-fetch/document-fetch'
import { FetchedKeys, givenKeys, type KeySource } from '../jwt/key-source'
import { parsePublicKeys } from '../jwt/public-keys'
import { BoundedMap } from '../protocol/bounded-map'
import type { Client } from '../protocol/client'
import { isList, isRecord, isText } from '../protocol/configuration'
import { dataOf, type Json } from '../protocol/extension'
import { privateState } from '../protocol/private-state'
import { plainUrl } from '../protocol/uri'
import type { AuthenticatingServer } from './method'

const publishedAtMost = 1000
const keysAtMost = 32
// A registration is parsed more often than a published set. Strangers register keys, too.
const registeredAtMost = 12

/** The public keys of clients: those in registrations, and those that clients publish. */
export class ClientKeys {
  /** The keys of a client that has none. */
  static readonly none = givenKeys([])

  private readonly registered = privateState<Client, KeySource>()
  // The sources of one server: another server may fetch from other networks.
  private readonly published = new WeakMap<DocumentFetch, BoundedMap<FetchedKeys>>()

  /**
   * @param method the entry in `credentials` that holds the keys.
   * @param documents fetches published keys. Default: the fetch of the server.
   */
  constructor(
    private readonly method: string,
    private readonly documents: DocumentFetch | undefined,
  ) {}

  /** The keys of a client; undefined if its registration has none. */
  of(client: Client, server: Pick<AuthenticatingServer, 'documents'>): KeySource | undefined {
    const credential = dataOf(this.method, client.credentials)
    if (credential === undefined) return undefined
    const uri = publishedAt(credential)
    if (uri === undefined) return this.registeredOf(client, credential)
    return this.publishedOf(uri, this.documents ?? server.documents)
  }

  private registeredOf(client: Client, credential: Json): KeySource {
    const known = this.registered.get(client)
    if (known !== undefined) return known
    const keys = givenKeys(parsePublicKeys(credential)?.keys ?? [])
    this.registered.set(client, keys)
    return keys
  }

  private publishedOf(uri: string, documents: DocumentFetch): KeySource {
    const sources = this.published.get(documents) ?? new BoundedMap<FetchedKeys>(publishedAtMost)
    this.published.set(documents, sources)
    const keys = sources.get(uri) ?? new FetchedKeys(uri, (url) => fetchKeys(url, documents))
    // Evicts the source that no client has used for the longest time.
    sources.put(uri, keys)
    return keys
  }
}

// In bytes: a dozen keys with certificates.
const largestKeySet = 64 * 1024

// Reading a key takes up to two milliseconds, on the curve P-521. A stranger must not hold the process up with a set
// of hundreds of them.
async function fetchKeys(uri: string, documents: DocumentFetch): Promise<FetchedDocument> {
  const document = await documents.fetch(uri, largestKeySet)
  const keys = isRecord(document.json) ? document.json['keys'] : undefined
  if (isList(keys) && keys.length > keysAtMost)
    throw new Error(`A client publishes more than ${keysAtMost} keys.`)
  return document
}

function publishedAt(credential: Json): string | undefined {
  const uri = isRecord(credential) ? credential['jwks_uri'] : undefined
  return isText(uri) ? uri : undefined
}

/** What is wrong with the keys of a registration, as the rest of a sentence; undefined for good keys. */
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

const isHttps = (uri: string): boolean => plainUrl(uri)?.protocol === 'https:'
