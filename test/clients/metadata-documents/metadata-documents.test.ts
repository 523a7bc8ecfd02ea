import {
  metadataDocuments,
  type MetadataDocumentsOptions,
} from '../../../lib/clients/metadata-documents/metadata-documents'
import { resolveOptions } from '../../../lib/config/resolve-options'
import { memoryClients } from '../../../lib/stores/memory-clients'
import { clientId, document, Documents, sourceOf } from '../../support/client-documents'
import { mistakesWith } from '../../support/rooms/mistakes'
import { optionsWith, phone, printer } from '../../support/rooms/registrations'

function opened(options: MetadataDocumentsOptions = {}, documents = new Documents()) {
  const { findClient, clientRegistry, clientMetadata } = resolveOptions(
    optionsWith({ clients: sourceOf(documents, options) }),
  )
  return { findClient, clientRegistry, clientMetadata, documents }
}

describe('metadataDocuments()', () => {
  test('finds the client of a document', async () => {
    const { findClient } = opened()
    await expect(findClient(clientId)).resolves.toMatchObject({ client_id: clientId, client_type: 'public' })
  })

  test('knows no other client, and fetches nothing', async () => {
    const { findClient, documents } = opened()
    for (const other of [
      '',
      'printer',
      'constructor',
      'http://notes.example/oauth/client.json',
      `${clientId}#a`,
    ])
      expect(await findClient(other)).toBeUndefined()
    expect(documents.asked).toEqual([])
  })

  test('announces itself in the metadata', () => {
    expect(opened().clientMetadata).toEqual({ client_id_metadata_document_supported: true })
    expect(resolveOptions(optionsWith()).clientMetadata).toEqual({})
  })

  describe('the option registered', () => {
    const own = { ...phone, client_id: clientId }

    test.each([
      ['a list', () => [printer, own]],
      [
        'a store',
        () => ({ find: async (id: string) => [printer, own].find((each) => each.client_id === id) }),
      ],
    ])('%s wins over documents', async (_, registered) => {
      const { findClient, documents } = opened({ registered: registered() })
      expect(await findClient(printer.client_id)).toMatchObject({ client_id: printer.client_id })
      expect((await findClient(clientId))?.metadataDocument).toBeUndefined()
      expect(documents.asked).toEqual([])
    })

    test('a list is answered without a promise', () => {
      expect(opened({ registered: [printer] }).findClient(printer.client_id)).not.toBeInstanceOf(Promise)
    })

    test('a registry registers the clients of the server', async () => {
      const registry = memoryClients()
      const { clientRegistry } = opened({ registered: registry })
      expect(clientRegistry).toBe(registry)
    })

    test('a disabled registration blocks a document', async () => {
      const { findClient } = opened({ registered: [{ ...own, disabled: true }] })
      expect(await findClient(clientId)).toMatchObject({ disabled: true })
    })
  })

  describe('allow', () => {
    test.each<[string, NonNullable<MetadataDocumentsOptions['allow']>]>([
      ['the host', ['other.example', 'notes.example']],
      ['a domain above', ['*.example']],
      ['the URL', [clientId]],
      ['its folder', ['https://notes.example/oauth/']],
      ['its whole host', ['https://notes.example/']],
      ['a function', (id) => id === clientId],
      ['an async function', async () => true],
    ])('by %s lets the client in', async (_, allow) => {
      await expect(opened({ allow }).findClient(clientId)).resolves.toBeDefined()
    })

    test.each<[string, NonNullable<MetadataDocumentsOptions['allow']>]>([
      ['nothing', []],
      ['another host', ['example']],
      ['the domain of the host', ['*.notes.example']],
      ['a host that ends so', ['otes.example']],
      ['a domain that ends so', ['*.otes.example']],
      ['another port', ['notes.example:8443']],
      ['another URL', [`${clientId}x`]],
      ['the beginning of its URL without a slash', ['https://notes.example/oauth/client']],
      ['a folder beside', ['https://notes.example/oauth/client.json/']],
      ['a function', () => false],
      ['an async function', async () => false],
    ])('by %s keeps the client out, and fetches nothing', async (_, allow) => {
      const { findClient, documents } = opened({ allow })
      await expect(async () => findClient(clientId)).rejects.toMatchObject({
        code: 'invalid_client',
        pageCode: 'invalid_request',
        reason: 'client_document_not_allowed',
      })
      expect(documents.asked).toEqual([])
    })

    test.each(['..%2fmallory.json', 'a/..%5Cb', '%2e%2e%252Fb', '..;/mallory.json', 'a/.;x/b'])(
      'by its folder keeps %s out, which some web servers look up elsewhere [stranger-13]',
      async (rest) => {
        const folder = 'https://notes.example/oauth/'
        const url = `${folder}${rest}`
        const answers = new Map([[url, { ...document, client_id: url }]])
        const { findClient, documents } = opened({ allow: [folder] }, new Documents(answers))
        await expect(async () => findClient(url)).rejects.toMatchObject({
          reason: 'client_document_not_allowed',
        })
        expect(documents.asked).toEqual([])
        await expect(opened({ allow: [url] }, new Documents(answers)).findClient(url)).resolves.toBeDefined()
      },
    )

    test('by an exact URL names this URL, and no other way names one [stranger-10]', async () => {
      const levels: unknown[] = []
      const documents = new Documents()
      documents.fetch = async (_url, _size, inquiry) => {
        levels.push(inquiry?.trust)
        return { json: document, maximumAge: 60 }
      }
      for (const entry of [clientId, 'https://notes.example/oauth/', 'notes.example', '*.example'])
        await opened({ allow: [entry, `${clientId}x`] }, documents).findClient(clientId)
      await opened({ allow: () => true }, documents).findClient(clientId)
      expect(levels).toEqual(['named', 'unknown', 'unknown', 'unknown', 'unknown'])
    })

    test('holds for a document that is known already', async () => {
      let isAllowed = true
      const { findClient } = opened({ allow: () => isAllowed })
      await findClient(clientId)
      isAllowed = false
      await expect(async () => findClient(clientId)).rejects.toMatchObject({ code: 'invalid_client' })
    })

    test('decides by true and false alone', async () => {
      const { findClient } = opened({ allow: () => JSON.parse('"yes"') })
      await expect(findClient(clientId)).rejects.toThrow('must return true or false')
    })
  })

  test.each<[string, object, string[]]>([
    ['another option', { registered: [], beside: [] }, ['clients.beside']],
    ['registered that is no list', { registered: 7 }, ['clients.registered']],
    [
      'a faulty registration',
      { registered: [{ ...printer, client_type: 'web' }] },
      ['clients.registered[0].client_type'],
    ],
    ['two equal registrations', { registered: [printer, printer] }, ['clients.registered[1].client_id']],
    ['allow that is a text', { allow: 'notes.example' }, ['clients.allow']],
    [
      'allow with what is no host and no URL',
      {
        allow: ['http://a.example/', 'a b', 7, '*', 'https://a.example', 'A.example', 'https://a.example/b'],
      },
      [0, 1, 2, 3, 4, 5].map((index) => `clients.allow[${index}]`),
    ],
    ['a scope that the server lacks', { scope: 'notes:burn' }, ['clients.scope']],
    ['an empty scope', { scope: '' }, ['clients.scope']],
    ['a grant type that the server lacks', { grantTypes: ['password'] }, ['clients.grantTypes']],
    ['a text for localhostRedirects', { localhostRedirects: 'yes' }, ['clients.localhostRedirects']],
    ['a lookup that is no function', { lookup: '127.0.0.1' }, ['clients.lookup']],
    ['documents that cannot be fetched', { documents: { get: () => undefined } }, ['clients.documents']],
    [
      'two ways to fetch',
      { documents: new Documents(), lookup: async () => [], ca: 'PEM' },
      ['clients.lookup', 'clients.ca'],
    ],
    ['certificates that are numbers', { ca: [7] }, ['clients.ca']],
  ])('is refused at construction: %s', (_, options, paths) => {
    const mistakes = mistakesWith({ clients: metadataDocuments(options) })
    expect(mistakes.map(({ path }) => path)).toEqual(paths)
  })

  test('needs to know who is logged in, unless its clients never ask', () => {
    const without = (options: MetadataDocumentsOptions) =>
      mistakesWith({ clients: metadataDocuments(options), resourceOwner: undefined }).map(({ path }) => path)
    expect(without({})).toEqual(['clients'])
    expect(without({ grantTypes: ['client_credentials'] })).toEqual([])
  })
})
