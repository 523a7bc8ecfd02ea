import { ClientKeys } from '../../lib/client-authentication/client-keys'
import type { DocumentFetch, DocumentInquiry } from '../../lib/clients/document-fetch/document-fetch'
import {
  DocumentUnavailable,
  type UnavailableReason,
} from '../../lib/clients/document-fetch/document-unavailable'
import { loadJose } from '../../lib/jwt/jose'
import { findKey, KeysUnavailable } from '../../lib/jwt/key-source'
import type { Client } from '../../lib/protocol/client'
import { Throttled } from '../../lib/protocol/oauth-error'
import type { Sender } from '../../lib/protocol/sender'
import { signer } from '../support/assertions/jwt'
import { clientWith } from '../support/authorization/client'
import { noon } from '../support/authorization/issue-context'

const own = signer('printer', '1')
const uri = 'https://printer.example/jwks.json'
const registered: Client = { ...clientWith(), credentials: { private_key_jwt: { jwks_uri: uri } } }
const ofDocument = (host: string): Client => ({
  ...registered,
  metadataDocument: { host, localhostRedirects: false },
})
const refusal = new Throttled('rate_limited', 'Too many.', 7)
const refused = { address: () => '192.0.2.1', networkRefusal: refusal }
const others = { address: () => '192.0.2.2', networkRefusal: undefined }

const keysOf = ({ credentials }: Client) => credentials['private_key_jwt']

/** The keys of a client at a URL, whose host answers or fails. */
function stage(client: Client = registered) {
  const inquiries: (DocumentInquiry | undefined)[] = []
  const state: { failure: Error | undefined } = { failure: undefined }
  const documents: DocumentFetch = {
    async fetch(_url, _size, inquiry) {
      inquiries.push(inquiry)
      if (state.failure !== undefined) throw state.failure
      return { json: { keys: [own.jwk] }, maximumAge: 60 }
    },
  }
  const keys = new ClientKeys(keysOf, undefined)
  const find = async (
    seconds = 0,
    { kid = '1', sender = others }: { kid?: string; sender?: Sender } = {},
  ) => {
    const source = keys.of(client, { documents }, sender)
    if (source === undefined) throw new Error('The client has no keys.')
    return findKey(await loadJose(), source, { alg: own.alg, kid }, noon + seconds)
  }
  return { find, inquiries, state }
}

describe('Keys that a client publishes', () => {
  test.each<[string, string, Client]>([
    ['a registered client', 'named', registered],
    ['a document of the same host', 'known', ofDocument('printer.example')],
    ['a document of another host', 'unknown', ofDocument('evil.example')],
    ['a client that registered itself', 'unknown', { ...registered, selfRegistered: true }],
  ])('at the URL of %s are fetched as %s', async (_, trust, client) => {
    const { find, inquiries } = stage(client)
    await find()
    await find(60)
    // A URL that has given keys before is known, for every client.
    const later = trust === 'unknown' ? 'known' : trust
    expect(inquiries.map((each) => each?.trust)).toEqual([trust, later])
    expect(inquiries.map((each) => each?.sender)).toEqual([others, others])
  })

  test('stay, however many other clients name a URL', async () => {
    const keys = new ClientKeys(keysOf, undefined)
    const asked: string[] = []
    const documents: DocumentFetch = {
      async fetch(url) {
        asked.push(url)
        return { json: { keys: [own.jwk] }, maximumAge: 86_400 }
      },
    }
    const fetch = async (client: Client) => {
      const source = keys.of(client, { documents }, others)
      if (source?.trusted(noon) === undefined) await source?.fetched(noon)
    }
    await fetch(registered)
    for (let at = 0; at < 1001; at++)
      await fetch({
        ...registered,
        selfRegistered: true,
        credentials: { private_key_jwt: { jwks_uri: `https://evil.example/${at}` } },
      })
    await fetch(registered)
    expect(asked.filter((each) => each === uri)).toHaveLength(1)
  })

  test.each<UnavailableReason>(['limited', 'busy', 'timeout', 'dns_silent'])(
    'stand in for an hour while a fetch fails by %s, and refuse nothing [document-8]',
    async (reason) => {
      const { find, state } = stage()
      await find()
      state.failure = new DocumentUnavailable(reason)
      await expect(find(3599)).resolves.toBeDefined()
      // The client may have changed its keys.
      await expect(find(3599, { kid: '2' })).rejects.toBeInstanceOf(KeysUnavailable)
      await expect(find(3600)).rejects.toBeInstanceOf(KeysUnavailable)
    },
  )

  test.each<UnavailableReason>(['status', 'connection', 'unresolved', 'malformed'])(
    'do not stand in after a fetch that fails by %s',
    async (reason) => {
      const { find, state } = stage()
      await find()
      state.failure = new DocumentUnavailable(reason)
      await expect(find(60)).rejects.toBeInstanceOf(KeysUnavailable)
    },
  )

  test('are fetched for another sender, after the limit of one refused it', async () => {
    const { find, state, inquiries } = stage()
    state.failure = new DocumentUnavailable('limited')
    await expect(find()).rejects.toBeInstanceOf(KeysUnavailable)
    state.failure = undefined
    await expect(find()).resolves.toBeDefined()
    expect(inquiries).toHaveLength(2)
  })

  test('are not fetched for a network over its limit: not at first, not for an unknown kid, and not when they end', async () => {
    const { find, inquiries } = stage()
    const cause = { cause: refusal }
    await expect(find(0, { sender: refused })).rejects.toMatchObject(cause)
    expect(inquiries).toHaveLength(0)
    await find()
    await expect(find(30, { sender: refused })).resolves.toBeDefined()
    await expect(find(30, { sender: refused, kid: '2' })).rejects.toMatchObject(cause)
    await expect(find(60, { sender: refused })).resolves.toBeDefined()
    expect(inquiries).toHaveLength(1)
  })
})
