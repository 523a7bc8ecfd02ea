import express from 'express'
import type { Response } from 'supertest'
import {
  type AuthorizationServerOptions,
  type ClientRegistration,
  type Extension,
  implicit,
  type PageOptions,
} from '../../lib/index'
import { deviceAuthorization } from '../../lib/paths/devices'
import { formPost } from '../../lib/paths/pushed-requests'
import { metadataDocuments } from '../../lib/paths/registration'
import { openIdConnect } from '../../lib/paths/openid-connect'
import { application, withoutLimits } from './flows/application'
import { consentFormOf } from './flows/consent-form'
import { deviceCode, deviceSecret } from './flows/device-stage'
import { DocumentOrigin } from './flows/document-origin'
import { authorizationRequest, type Flow, type RepeatedFields } from './flows/flow'
import { identityKeys } from './flows/identity-stage'
import { codeOf } from './flows/redirection'
import { type StartedServer, startServer } from './start-server'

/** Where a story of a page takes place. */
type Place = ReturnType<typeof placeOf>

interface Exhibit {
  readonly pages?: PageOptions
  readonly show: (place: Place) => Promise<Response>
}

const see = 'photos:read'
const everything = `${see} photos:write photos:delete profile`
const loopback = 'http://127.0.0.1:51004/callback'

const connected = '/authorizations'
const enterDevice = async ({ flow, owner }: Place, headers = {}): Promise<Response> => {
  const asked = await flow.submit('/device_authorization', { client_id: 'television', scope: everything })
  return flow.enterCode({ user_code: asked.body.user_code }, owner, headers)
}
const answerDevice = async (place: Place, decision: string): Promise<Response> => {
  const { fields } = consentFormOf(await enterDevice(place), '/device')
  return place.flow.submit('/device', { ...fields, decision }, place.owner)
}
const answerLogout = async ({ flow, owner }: Place, decision: string): Promise<Response> => {
  const { text } = await flow.open('/logout?client_id=book', owner)
  const logout_request = /name="logout_request" value="([^"]+)"/.exec(text)?.[1]
  return flow.submit('/logout', { logout_request, decision }, owner)
}
const approve = async ({ ask, decide }: Place, clients: readonly string[]): Promise<void> => {
  for (const client of clients) await decide(await ask(client), 'approve')
}
const implied = { response_type: 'token', code_challenge: undefined, code_challenge_method: undefined }

const stories = (service: PageOptions): Readonly<Record<string, Exhibit | Exhibit['show']>> => ({
  consent: ({ ask }) => ask(),
  service: { pages: service, show: ({ ask }) => ask() },
  dangerous: { pages: service, show: ({ ask }) => ask('book', { scope: everything }) },
  choice: ({ ask }) => ask('choosing'),
  list: ({ ask }) => ask('listing'),
  problem: ({ ask }) => ask('stuck'),
  async remembered({ ask, decide }) {
    await decide(await ask(), 'approve')
    return ask('book', { scope: everything })
  },
  unverified: ({ askAsStranger }) => askAsStranger(),
  'unverified-device': ({ askAsStranger }) => askAsStranger({ redirect_uri: loopback }),
  'unverified-app': ({ askAsRegistered }) => askAsRegistered('com.example.notes:/callback'),
  async error({ ask, decide }) {
    const page = await ask()
    await decide(page, 'deny')
    return decide(page, 'approve')
  },
  async trouble({ ask, decide, meanwhileClosed }) {
    const page = await ask()
    return meanwhileClosed(() => decide(page, 'approve'))
  },
  async answered({ flow, ask, decide }) {
    const page = await ask()
    const registration = clientCalled('book')
    await flow.redeem({ registration }, codeOf(await decide(page, 'approve')))
    return decide(page, 'approve')
  },
  continue: async ({ ask, decide }) => decide(await ask('book', implied), 'approve'),
  refused: async ({ ask, decide }) => decide(await ask('desk', implied), 'deny'),
  'insecure-redirect': async ({ ask, decide }) => decide(await ask('old'), 'approve'),
  'insecure-form': async ({ ask, decide }) =>
    decide(await ask('old', { response_mode: 'form_post' }), 'approve'),
  'unverified-redirect': ({ askAsStranger }) => askAsStranger({ scope: 'unheard-of' }),
  'unverified-trouble': ({ askAsStranger, meanwhileClosed }) => meanwhileClosed(() => askAsStranger()),
  connected: {
    pages: service,
    async show(place) {
      await place.decide(await place.askAsStranger(), 'approve')
      await approve(place, ['book', 'old'])
      return place.flow.open(connected, place.owner)
    },
  },
  async 'connected-many'(place) {
    const { flow, owner } = place
    await approve(place, shelf)
    const question = await flow.open(`${connected}?remove=${shelf[0]}`, owner)
    const { fields } = consentFormOf(question, connected)
    const removed = await flow.submit(connected, fields, owner)
    return flow.open(String(removed.get('Location')), owner)
  },
  'connected-none': ({ flow, owner }) => flow.open(connected, owner),
  async 'connected-remove'(place) {
    await approve(place, ['book'])
    return place.flow.open(`${connected}?remove=book`, place.owner)
  },
  device: ({ flow, owner }) => flow.open('/device', owner),
  'device-link': {
    pages: service,
    show: ({ flow, owner }) => flow.open('/device?user_code=WDJB-MJHT', owner),
  },
  'device-wrong': ({ flow, owner }) => flow.enterCode({ user_code: 'WDJB-MJHT' }, owner),
  'device-question': { pages: service, show: (place) => enterDevice(place) },
  'device-approved': (place) => answerDevice(place, 'approve'),
  'device-denied': (place) => answerDevice(place, 'deny'),
  logout: ({ flow, owner }) => flow.open('/logout?client_id=book', owner),
  'logged-out': (place) => answerLogout(place, 'log_out'),
  stayed: (place) => answerLogout(place, 'stay'),
})

const shelf = Array.from({ length: 10 }, (_, index) => `book-${index}`)

/** The names of all pages. */
export const pageNames: readonly string[] = Object.keys(stories({}))

/** Opens the gallery. @param said follows every text that a host, a client or an owner has chosen. */
export async function openGallery(said = '') {
  const documents = await DocumentOrigin.start()
  documents.members = { client_name: `Notes${said}`, scope: everything }
  const logo = '/logo.svg'
  const colors = { accent: '#0b6b4f', background: '#eef4f1', dark: { accent: '#5ad1a8' } }
  const exhibits = stories({ service: { name: `Lumen${said}`, logo, colors } })
  const [plain, branded] = [serverWith({}), serverWith({ service: { name: `Lumen${said}`, logo, colors } })]
  let visitors = 0

  function serverWith(pages: PageOptions) {
    const door = { closed: false }
    const hosted = application({ ...optionsFor(said, documents), pages, maintenance: () => door.closed })
    return { flow: hosted.flow, door }
  }

  return {
    /** Tells the story of the page to an owner who reads this language. */
    async show(name: string, language = 'en') {
      const exhibit = exhibits[name]
      if (exhibit === undefined) throw new Error(`There is no page ${name}.`)
      const { pages, show } = typeof exhibit === 'function' ? { pages: undefined, show: exhibit } : exhibit
      const { flow, door } = pages === undefined ? plain : branded
      visitors += 1
      return show(
        placeOf(flow.behind({ 'Accept-Language': language }), door, `${name}-${visitors}`, said, documents),
      )
    },
    close: () => documents.stop(),
  }
}

/** Every page of the suite, from a server and a story. */
export type Gallery = Awaited<ReturnType<typeof openGallery>>

function placeOf(
  flow: Flow,
  door: { closed: boolean },
  owner: string,
  said: string,
  documents: DocumentOrigin,
) {
  const asking = (registration: ClientRegistration, bend: RepeatedFields) =>
    flow.ask({ ...authorizationRequest({ registration }), state: `s${said}`, ...bend }, owner)
  const scope = `${see} photos:write`
  return {
    flow,
    /** An owner of this story alone. */
    owner,
    /** Asks for access as a client that the host has registered. */
    ask: (clientId = 'book', bend: RepeatedFields = {}) => asking(clientCalled(clientId), { scope, ...bend }),
    /** Asks as a client that is known by its document, or that registers itself now. */
    askAsStranger: (bend: RepeatedFields = {}) =>
      asking(documents.client.registration, { redirect_uri: 'https://notes.example/callback', ...bend }),
    askAsRegistered: async (redirectUri: string) => {
      const redirect_uris = [redirectUri]
      const client_name = `Notes${said}`
      const metadata = { client_name, redirect_uris, token_endpoint_auth_method: 'none', scope }
      const headers = { 'Content-Type': 'application/json' }
      const { body } = await flow.submit('/register', JSON.stringify(metadata), undefined, headers)
      return asking({ client_id: body.client_id, client_type: 'public', redirect_uris, scope }, {})
    },
    /** Presses a button of a consent page. */
    decide: (page: Response, decision: string) => flow.decide(page, decision, owner),
    /** Does it while the server is closed for maintenance. */
    meanwhileClosed: async (does: () => Promise<Response>) => {
      door.closed = true
      const response = await does()
      door.closed = false
      return response
    },
  }
}

const clientsFor = (said: string): readonly ClientRegistration[] => {
  const book = {
    client_id: 'book',
    client_type: 'public',
    client_name: `Photo Book${said}`,
    description: `Binds photos${said}`,
    client_uri: 'https://book.example/',
    policy_uri: 'https://book.example/privacy',
    tos_uri: 'https://book.example/terms',
    redirect_uris: ['https://book.example/callback'],
    grant_types: ['authorization_code', 'refresh_token', 'implicit'],
    response_types: ['code', 'token'],
    scope: everything,
  } satisfies ClientRegistration
  const [desk, old] = ['com.example.book:/callback', 'http://old.example/callback'] as const
  return [
    book,
    ...['choosing', 'listing', 'stuck', ...shelf].map((client_id) => Object.assign({}, book, { client_id })),
    { ...book, client_id: 'desk', redirect_uris: [desk] },
    { ...book, client_id: 'old', redirect_uris: [old], insecure_redirect_uris: true },
    {
      client_id: 'television',
      client_type: 'public',
      client_name: `Television${said}`,
      grant_types: [deviceCode],
      scope: everything,
    },
  ]
}

function clientCalled(clientId: string): ClientRegistration {
  const registration = clientsFor('').find(({ client_id }) => client_id === clientId)
  if (registration === undefined) throw new Error(`There is no client ${clientId}.`)
  return registration
}

const answersOf: Readonly<Record<string, number>> = { choosing: 3, listing: 20, stuck: 0 }

function optionsFor(said: string, documents: DocumentOrigin): Partial<AuthorizationServerOptions> {
  const keys = identityKeys()
  const named = (texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(texts).map(([tag, text]) => [tag, text + said]))
  const group = named({ en: 'Photos', de: 'Fotos', ja: '写真', ar: 'الصور' })
  const facts: Extension = {
    name: 'facts',
    authorize: () => ({
      facts: [{ name: 'paper', label: `Paper${said}`, values: [{ value: 'a4', description: `A4${said}` }] }],
    }),
  }
  return {
    clients: metadataDocuments({ ...documents.reach, registered: clientsFor(said) }),
    dynamicRegistration: {},
    scopes: {
      openid: 'Know who you are',
      [see]: {
        description: named({
          en: 'See your photos',
          de: 'Ihre Fotos ansehen',
          ja: '写真を見る',
          ar: 'عرض صورك',
        }),
        group,
      },
      'photos:write': {
        description: named({
          en: 'Add photos',
          de: 'Fotos hinzufügen',
          ja: '写真を追加する',
          ar: 'إضافة صور',
        }),
        group,
        weight: 'write',
        optional: true,
      },
      'photos:delete': {
        description: named({
          en: 'Delete photos',
          de: 'Fotos löschen',
          ja: '写真を削除する',
          ar: 'حذف الصور',
        }),
        weight: 'danger',
        optional: true,
      },
      profile: { description: named({ en: 'See your name', de: 'Ihren Namen sehen' }) },
    },
    resourceOwner: (request) => {
      const subject = request.get('X-Owner')
      return subject && { subject, name: `Ada Lovelace${said}` }
    },
    logOut: () => {},
    rememberConsent: true,
    authorizations: { fromTheStart: true },
    limits: withoutLimits.limits,
    pkce: 'none',
    choices: (_request, { clientId }) => {
      const answers = answersOf[clientId]
      if (answers === undefined) return undefined
      const values = Array.from({ length: answers }, (_, index) => `w${index}`)
      return {
        name: 'workspace',
        text: `For which workspace?${said}`,
        answers: values.map((value) => ({ value, label: `Workspace ${value}${said}` })),
        none: `You have no workspace.${said}`,
      }
    },
    plugins: [
      implicit({ redirectBy: 'page' }),
      facts,
      keys,
      openIdConnect({ keys }),
      formPost(),
      deviceAuthorization({ secret: deviceSecret, guesses: { owner: false, network: false } }),
    ],
  }
}

const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="14" fill="#0b6b4f"/></svg>`

/** Serves every page for browsers, with its headers, at `/<name>?ui_locales=<language>`. */
export async function startGallery(): Promise<StartedServer> {
  const gallery = await openGallery()
  const app = express()
  app.get('/logo.svg', (_request, response) => void response.type('svg').send(drawing))
  app.get('/favicon.ico', (_request, response) => void response.status(204).end())
  app.get('/:name', async ({ params, query }, response) => {
    const { ui_locales: language } = query
    const page = await gallery.show(params.name, typeof language === 'string' ? language : 'en')
    // A browser complains of pages with errors, and this one only looks at them.
    response.status(200).set({ 'Content-Security-Policy': page.get('Content-Security-Policy') })
    response.type('html').send(page.text)
  })
  const server = await startServer(app)
  const stop = async () => {
    await server.stop()
    await gallery.close()
  }
  return { ...server, stop }
}
