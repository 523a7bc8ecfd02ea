import type { AuthorizationServerOptions } from '../../lib/index'
import { metadataDocuments, type MetadataDocumentsOptions } from '../../lib/paths/registration'
import { mountAll } from '../support/flows/application'
import { DocumentOrigin } from '../support/flows/document-origin'
import { errorPageOf } from '../support/flows/error-page'
import { authorizationRequest } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { setStage } from '../support/flows/stage'

let origin: DocumentOrigin
beforeEach(async () => {
  origin = await DocumentOrigin.start()
})
afterEach(() => origin.stop())

function stage(documents: MetadataDocumentsOptions = {}, options: Partial<AuthorizationServerOptions> = {}) {
  const clients = metadataDocuments({ ...origin.reach, ...documents })
  return setStage({ clients, ...options }, { mount: behindProxy })
}

const behindProxy: typeof mountAll = (app, oauth) => {
  app.set('trust proxy', 'loopback')
  mountAll(app, oauth)
}

const asked = () => authorizationRequest(origin.client)

test('[MCP-2] a client is its document, and the metadata says so where that is switched on', async () => {
  const { flow } = stage()
  expect((await flow.open('/.well-known/oauth-authorization-server')).body).toMatchObject({
    client_id_metadata_document_supported: true,
  })
  const { accessToken } = await flow.tokens(origin.client)
  expect((await flow.photos(accessToken)).body).toMatchObject({ clientId: origin.clientId })
})

test('[MCP-2] without the option no document is fetched, and the metadata says nothing', async () => {
  const { flow } = setStage()
  const { body } = await flow.open('/.well-known/oauth-authorization-server')
  expect(body).not.toHaveProperty('client_id_metadata_document_supported')
  expect(outcomeOf(await flow.ask(asked(), 'alice'))).toBe('page 400 invalid_request')
  expect(origin.asked).toBe(0)
})

test('[MCP-15] the server fetches the document of a client_id that is a URL', async () => {
  expect(outcomeOf(await stage().flow.ask(asked(), 'alice'))).toBe('question')
  expect(origin.asked).toBe(1)
})

test.each([
  (id: string) => `${id}/`,
  (id: string) => id.replace('notes', 'NOTES'),
  () => 'another',
  () => null,
])('[MCP-16] the client_id in the document is its URL, exactly: %s', async (bend) => {
  origin.members = { client_id: bend(origin.clientId) }
  expect(errorPageOf(await stage().flow.ask(asked(), 'alice'))).toMatch(/^400 /)
})

test.each(['client_id', 'client_name', 'redirect_uris'])(
  '[MCP-17] a document without %s is refused',
  async (member) => {
    origin.members = { [member]: undefined }
    expect(errorPageOf(await stage().flow.ask(asked(), 'alice'))).toMatch(/^400 /)
  },
)

test('[MCP-17] a document that is not JSON is refused', async () => {
  origin.answer = (_request, response) => {
    response.setHeader('Content-Type', 'application/json').end('{')
  }
  expect(errorPageOf(await stage().flow.ask(asked(), 'alice'))).toMatch(/^\d+ /)
})

test('[MCP-18] the redirection URI of a request is one of the document', async () => {
  const { flow } = stage()
  for (const redirect_uri of [
    'https://notes.example/other',
    'https://evil.example/',
    'http://127.0.0.1/other',
  ])
    expect(errorPageOf(await flow.ask({ ...asked(), redirect_uri }, 'alice'))).toBe('400 invalid_request')
})

test('[MCP-19] a document is kept as long as its headers say', async () => {
  const { flow, clock } = stage()
  const ask = async () => outcomeOf(await flow.ask(asked(), 'alice'))
  expect(await ask()).toBe('question')
  clock.advance(299)
  expect(await ask()).toBe('question')
  expect(origin.asked).toBe(1)
  clock.advance(2)
  expect(await ask()).toBe('question')
  expect(origin.asked).toBe(2)
})

test.each(['127.0.0.1', '::ffff:127.0.0.1', '64:ff9b::7f00:1', '10.0.0.1', '169.254.169.254'])(
  '[MCP-20] no document makes the server reach its own network: %s',
  async (address) => {
    const { flow } = stage({ lookup: async () => [{ address }] }, { issuer: 'https://photos.example' })
    const response = await flow.behind({ 'X-Forwarded-Proto': 'https' }).ask(asked(), 'alice')
    expect(errorPageOf(response)).toMatch(/^\d+ /)
    expect(origin.connections).toBe(0)
  },
)

test('[MCP-21] the consent page shows the host of the redirection URI', async () => {
  const { flow } = stage()
  const redirect_uri = 'https://notes.example/callback'
  // As one whole fact: the page names these hosts elsewhere, too, such as the host of the client_id.
  const web = await flow.ask({ ...asked(), redirect_uri }, 'alice')
  expect(web.text).toContain('<dd><bdi>notes.example</bdi></dd>')
  const onDevice = await flow.ask(asked(), 'alice')
  expect(onDevice.text).toContain('<dd><bdi>http://127.0.0.1:51004</bdi></dd>')
})

test('[MCP-22] the consent page warns where the answer goes to this device only', async () => {
  const { flow } = stage()
  const redirect_uri = 'https://notes.example/callback'
  expect((await flow.ask(asked(), 'alice')).text).toContain('a program on this device')
  expect((await flow.ask({ ...asked(), redirect_uri }, 'alice')).text).not.toContain('on this device')
})

test('[MCP-23] the option allow says whose documents count', async () => {
  const refusing = stage({ allow: ['other.example'] })
  expect(errorPageOf(await refusing.flow.ask(asked(), 'alice'))).toMatch(/^400 /)
  expect(origin.asked).toBe(0)
  const allowing = stage({ allow: [new URL(origin.clientId).host] })
  expect(outcomeOf(await allowing.flow.ask(asked(), 'alice'))).toBe('question')
})
