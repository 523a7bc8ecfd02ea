import type { Response } from 'express'
import request from 'supertest'
import { memoryDynamicClients } from '../../lib/index'
import { clientId, document, Documents, sourceOf } from '../support/client-documents'
import { application } from '../support/flows/application'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { notesApp } from '../support/flows/registering'

describe('What a person cannot see in the name of a client', () => {
  const tags = '\u{E0042}\u{E0061}\u{E006E}\u{E006B}'
  const client_name = `Photo\u034F Book\uFE0F${tags}`
  const nothing = `\uFE0F${tags}`
  const consentPage = (_request: unknown, response: Response, view: object) => response.json(view)

  /** The names that the page and the view of a host get. */
  async function shownOf(options: object, asked: ReturnType<typeof authorizationRequest>) {
    const { text } = await application(options).flow.ask(asked, 'alice')
    const { body } = await application({ ...options, pages: { consent: consentPage } }).flow.ask(
      asked,
      'alice',
    )
    return [/<bdi class="name">(.*?)<\/bdi>/.exec(text)?.[1], body.client.client_name]
  }

  test('is left out for a registration of the host [consent-34]', async () => {
    const ofHost = (name: string) => {
      const client = bent(photoBook, { client_name: name })
      return shownOf({ clients: [client.registration] }, authorizationRequest(client))
    }
    expect(await ofHost(client_name)).toEqual(['Photo Book', 'Photo Book'])
    expect(await ofHost(nothing)).toEqual(['photo-book', undefined])
  })

  test('is left out for a client with a document [consent-34]', async () => {
    const ofDocument = (name: string) => {
      const documents = new Documents(new Map([[clientId, { ...document, client_name: name }]]))
      const registration = { ...photoPrint.registration, client_id: clientId }
      const asked = {
        ...authorizationRequest({ registration }),
        redirect_uri: 'https://notes.example/callback',
      }
      return shownOf({ clients: sourceOf(documents) }, asked)
    }
    expect(await ofDocument(client_name)).toEqual(['Photo Book', 'Photo Book'])
    expect(await ofDocument(nothing)).toEqual([clientId, undefined])
  })

  test('is left out for a client that registered itself [consent-34]', async () => {
    const ofDynamic = async (name: string) => {
      const dynamicRegistration = { store: memoryDynamicClients() }
      const { app } = application({ dynamicRegistration })
      const { body } = await request(app)
        .post('/register')
        .send({ ...notesApp, client_name: name })
      expect(body.client_name).toBe(name)
      const registration = { ...photoPrint.registration, client_id: String(body.client_id) }
      const [redirect_uri = ''] = notesApp.redirect_uris
      const asked = { ...authorizationRequest({ registration }), redirect_uri, scope: 'photos:read' }
      return shownOf({ dynamicRegistration }, asked)
    }
    expect(await ofDynamic(client_name)).toEqual(['Photo Book', 'Photo Book'])
    expect(await ofDynamic(nothing)).toEqual([expect.stringMatching(/^dynamic_/), undefined])
  })
})
