import { metadataDocuments, type MetadataDocumentsOptions } from '../../../lib/paths/registration'
import { openIdConnect } from '../../../lib/paths/openid-connect'
import { clientId, document, Documents } from '../../support/client-documents'
import { withoutLimits } from '../../support/flows/application'
import { photoBook } from '../../support/flows/clients'
import { DocumentOrigin } from '../../support/flows/document-origin'
import { authorizationRequest } from '../../support/flows/flow'
import { identityKeys, withIdentity } from '../../support/flows/identity-stage'
import { configure } from '../../support/flows/registered-client'
import { inMemory, notesApp, notesService, registeringOn } from '../../support/flows/registering'
import { area, grant, open, type Options } from './provoke'

const keys = identityKeys()
const pairwise = { secret: 'k'.repeat(32) }
const openId = openIdConnect({ keys, claims: async () => undefined, pairwise })
const sector = { subject_type: 'pairwise', sector_identifier_uri: 'https://127.0.0.1:1/' }
const long = Array.from({ length: 10 }, (_, index) => `https://a.example/${index}${'x'.repeat(2000)}`)

/** A server at which clients register themselves. */
function registerStage(own: Parameters<ReturnType<typeof registeringOn>>[0] = {}, options: Options = {}) {
  const set = registeringOn(inMemory)(own, { ...withoutLimits, ...options })
  const register = (bend: object = {}) => set.register({ ...notesApp, ...bend })
  const update = async (bend: object) => {
    const client = await set.register(notesService)
    const { client_id } = client.body
    return configure(set, 'put', client, { metadata: { client_id, ...notesService, ...bend } })
  }
  return { ...set, send: set.register, register, update }
}

export const registrations = area('registration', registerStage, {
  redirect_uris_refused: ({ register }) => register({ redirect_uris: ['http://a.example/'] }),
  client_metadata_malformed: ({ send }) => send([]),
  client_metadata_too_large: ({ register }) => register({ redirect_uris: long }),
  client_metadata_refused: ({ register }) => register({ scope: 7 }),
  'client_metadata_refused/client_id': ({ update }) => update({ client_id: 'x' }),
  'client_metadata_refused/left_out': ({ update }) => update({ client_id_issued_at: 1 }),
  'client_metadata_refused/client_secret': ({ update }) => update({ client_secret: 'x' }),
  'client_metadata_refused/method_none': ({ update }) => update({ token_endpoint_auth_method: 'none' }),
  'client_metadata_refused/unreachable': () =>
    registerStage({}, { ...withIdentity(), plugins: [keys, openId] }).register(sector),
  client_metadata_disabled: async ({ register, oauth }) => {
    await oauth.disableClient((await register()).body.client_id)
    return register()
  },
  initial_access_token_refused: () => registerStage({ initialAccessToken: () => false }).register(),
  registration_access_token_refused: ({ flow }) => flow.open('/register/client?client_id=x'),
  registrations_full: async () => {
    const { register } = registerStage({ maximumClients: 1 })
    await register()
    return register({ client_name: 'Other' })
  },
})

/** A client that is known by its document alone. */
const byDocument = (options: MetadataDocumentsOptions, client_id = clientId) => {
  const { flow } = open({ clients: metadataDocuments(options) })
  const asked = { ...authorizationRequest(photoBook), client_id, scope: 'photos:read' }
  return {
    ask: () => flow.ask(asked, 'alice'),
    request: () => flow.submit('/token', { ...grant, client_id }),
  }
}
const refusing = { documents: new Documents(), allow: () => false }
const malformed = { documents: new Documents(new Map([[clientId, { ...document, client_id: 'x' }]])) }

const withoutDocument = async (times: number) => {
  const origin = await DocumentOrigin.start()
  origin.answer = (_request, response) => void response.writeHead(404).end()
  const { ask } = byDocument(origin.reach, origin.clientId)
  for (let turn = 1; turn < times; turn++) await ask()
  return ask().finally(() => origin.stop())
}

export const documents = area('documents of clients', () => undefined, {
  client_document_not_allowed: () => byDocument(refusing).ask(),
  'client_document_not_allowed/authentication': () => byDocument(refusing).request(),
  client_document_malformed: () => byDocument(malformed).ask(),
  'client_document_malformed/authentication': () => byDocument(malformed).request(),
  client_document_unreachable: () => byDocument({ lookup: async () => [{ address: '10.0.0.1' }] }).ask(),
  client_document_refused: () => withoutDocument(1),
  client_document_limited: () => withoutDocument(31),
})
