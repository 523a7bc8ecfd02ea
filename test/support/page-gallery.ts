import express from 'express'
import helmet from 'helmet'
import { sendPage } from '../../lib/http/response'
import { connectedPage } from '../../lib/http/pages/connected-page'
import { consentPage } from '../../lib/http/pages/consent-page'
import { errorKindOf } from '../../lib/http/pages/error-kind'
import { readPageLocales } from '../../lib/http/pages/page-options'
import {
  answeredPage,
  continuePage,
  errorPage,
  insecureRedirectPage,
  unverifiedPage,
} from '../../lib/http/pages/pages'
import type { PageLocale, PageLocales } from '../../lib/http/pages/texts/locale'
import { devicePage } from '../../lib/device-authorization/device-pages'
import { logoutEndPage, logoutQuestionPage } from '../../lib/openid-connect/logout-pages'
import { OptionsReader } from '../../lib/primitives/options-reader'
import type {
  ConnectedApplication,
  ConnectedView,
  ConsentScope,
  ConsentView,
  DeviceCodeView,
  DeviceQuestionView,
} from '../../lib/index'
import { consentScope, consentView } from './consent-view'
import { type StartedServer, startServer } from './rooms/start-server'

const descriptions = {
  see: {
    en: 'See your photos',
    de: 'Ihre Fotos ansehen',
    fr: 'Voir vos photos',
    es: 'Ver sus fotos',
    ja: '写真を見る',
    ar: 'عرض صورك',
  },
  add: {
    en: 'Add photos to your albums',
    de: 'Fotos zu Ihren Alben hinzufügen',
    fr: 'Ajouter des photos à vos albums',
    es: 'Añadir fotos a sus álbumes',
    ja: 'アルバムに写真を追加する',
    ar: 'إضافة صور إلى ألبوماتك',
  },
  erase: {
    en: 'Delete photos for good',
    de: 'Fotos endgültig löschen',
    fr: 'Supprimer définitivement des photos',
    es: 'Eliminar fotos para siempre',
    ja: '写真を完全に削除する',
    ar: 'حذف الصور نهائيًا',
  },
  name: {
    en: 'See your name',
    de: 'Ihren Namen sehen',
    fr: 'Voir votre nom',
    es: 'Ver su nombre',
    ja: '名前を見る',
    ar: 'عرض اسمك',
  },
  photos: { en: 'Photos', de: 'Fotos', fr: 'Photos', es: 'Fotos', ja: '写真', ar: 'الصور' },
  profile: {
    en: 'Profile',
    de: 'Profil',
    fr: 'Profil',
    es: 'Perfil',
    ja: 'プロフィール',
    ar: 'الملف الشخصي',
  },
  which: {
    en: 'For which workspace?',
    de: 'Für welchen Arbeitsbereich?',
    fr: 'Pour quel espace de travail ?',
    es: '¿Para qué espacio de trabajo?',
    ja: 'どのワークスペースですか？',
    ar: 'لأي مساحة عمل؟',
  },
  none: {
    en: 'You have no workspace yet.',
    de: 'Sie haben noch keinen Arbeitsbereich.',
    fr: 'Vous n’avez pas encore d’espace de travail.',
    es: 'Todavía no tiene ningún espacio de trabajo.',
    ja: 'ワークスペースがまだありません。',
    ar: 'ليست لديك أي مساحة عمل بعد.',
  },
}

const locales = (options: object): PageLocales => readPageLocales(new OptionsReader(options, 'pages'))
const plain = locales({})
const lumen = locales({
  service: {
    name: 'Lumen',
    logo: '/logo.svg',
    colors: {
      accent: '#0b6b4f',
      background: '#eef4f1',
      dark: { accent: '#5ad1a8', background: '#0b1210' },
    },
  },
})

/** The scopes of the page: required ones, and those of two groups, one optional and one dangerous. */
const scopesIn = ({ pick }: PageLocale): readonly ConsentScope[] => [
  consentScope({
    token: 'photos:read',
    description: pick(descriptions.see),
    group: pick(descriptions.photos),
  }),
  consentScope({
    token: 'photos:delete',
    description: pick(descriptions.erase),
    weight: 'danger',
    field: 'scope:photos:delete',
  }),
  consentScope({ token: 'profile', description: pick(descriptions.name), group: pick(descriptions.profile) }),
  consentScope({
    token: 'photos:write',
    description: pick(descriptions.add),
    group: pick(descriptions.photos),
    weight: 'write',
    field: 'scope:photos:write',
  }),
]

const answersCalled = (names: readonly string[]) =>
  names.map((label, index) => ({ value: `w${index}`, label }))

const consent = (locale: PageLocale, changed: Partial<ConsentView> = {}): string =>
  consentPage(
    consentView({
      service: locale.service,
      client: {
        client_id: 'book',
        client_name: 'Photo Book',
        client_uri: 'https://book.example/',
        policy_uri: 'https://book.example/privacy',
        tos_uri: 'https://book.example/terms',
      },
      switchAccount: '/login?again',
      manageAt: '/authorizations',
      scope: [
        consentScope({ token: 'photos:read', description: locale.pick(descriptions.see) }),
        consentScope({
          token: 'photos:write',
          description: locale.pick(descriptions.add),
          weight: 'write',
        }),
      ],
      action: '?',
      fields: { authorization_request: 'ar_x' },
      redirectTo: 'https://book.example/callback',
      ...changed,
    }),
    locale,
  )

const error = (
  locale: PageLocale,
  reason: string,
  isTrouble: boolean,
  isKnown: boolean,
  manageAt?: string,
): string => {
  const { texts, tag, dir, service } = locale
  return errorPage(
    {
      title: isTrouble ? texts.error.troubleTitle : texts.error.refusedTitle,
      ...texts.error.explanations[errorKindOf(reason, isTrouble)],
      message: 'The authorization request is not open any more.',
      code: 'invalid_request',
      requestId: 'b7f3c1d0e9a84f52',
      wayBack: isKnown ? { clientName: 'Photo Book', uri: 'https://book.example/' } : undefined,
      manageAt,
      service,
      language: { tag, dir },
    },
    locale,
  )
}

const application = (
  locale: PageLocale,
  changed: Partial<ConnectedApplication> = {},
): ConnectedApplication => ({
  client: { client_id: 'book', client_name: 'Photo Book' },
  scope: scopesIn(locale).map((scope) => Object.assign({}, scope, { field: undefined })),
  facts: [],
  grantedAt: 1_790_000_000,
  lastIssuedOn: 1_795_000_000,
  removeAt: '?remove=book',
  fields: { authorization_id: 'x' },
  ...changed,
})

/** Applications of each kind: registered, known by a document, and without a permission. */
const applicationsIn = (locale: PageLocale): readonly ConnectedApplication[] => [
  application(locale, {
    client: {
      client_id: 'https://notes.example/client.json',
      client_name: 'Notes',
      unregistered: { host: 'notes.example' },
    },
    scope: [consentScope({ token: 'profile', description: locale.pick(descriptions.name) })],
    facts: [
      {
        name: 'resource',
        label: 'Access to',
        values: [{ value: 'https://api.example/notes', description: 'Notes' }],
      },
      {
        name: 'choice:workspace',
        label: locale.pick(descriptions.which),
        values: [{ value: 'w1', description: 'Analytical Engine' }],
      },
    ],
  }),
  application(locale),
  application(locale, {
    client: { client_id: '9f2c', client_name: undefined },
    scope: [],
    grantedAt: undefined,
    lastIssuedOn: undefined,
  }),
]

const connected = (locale: PageLocale, changed: Partial<ConnectedView> = {}): string => {
  const { tag, dir, service } = locale
  const view: ConnectedView = {
    service,
    language: { tag, dir },
    resourceOwner: { subject: 'u-8842', name: 'Ada Lovelace' },
    removing: undefined,
    applications: applicationsIn(locale),
    removed: undefined,
    isComplete: true,
    previous: undefined,
    next: undefined,
    listAt: '?',
    action: '?',
    ...changed,
  }
  return connectedPage(view, locale)
}

const ofDevice = ({ tag, dir, service }: PageLocale) => ({
  service,
  language: { tag, dir },
  resourceOwner: { subject: 'u-8842', name: 'Ada Lovelace' },
  action: '?',
  fields: {},
})

const deviceCode = (locale: PageLocale, changed: Partial<DeviceCodeView> = {}): string =>
  devicePage(
    {
      step: 'code',
      ...ofDevice(locale),
      userCode: undefined,
      problem: undefined,
      switchAccount: '?switch_account=yes',
      ...changed,
    },
    locale,
  )

const deviceQuestion = (locale: PageLocale, changed: Partial<DeviceQuestionView> = {}): string =>
  devicePage(
    {
      step: 'question',
      ...ofDevice(locale),
      client: { client_id: 'television', client_name: 'Television' },
      userCode: 'WDJB-MJHT',
      scope: scopesIn(locale),
      facts: [],
      requestedFrom: '2001:db8:85a3:8d3:1319:8a2e:370:7348',
      requestedAt: 1_790_000_000,
      now: 1_790_000_180,
      manageAt: '/authorizations',
      ...changed,
    },
    locale,
  )

const deviceAnswer = (locale: PageLocale, answer: 'approved' | 'denied'): string =>
  devicePage(
    {
      step: 'answer',
      ...ofDevice(locale),
      answer,
      client: { client_id: 'television', client_name: 'Television' },
    },
    locale,
  )

interface Exhibit {
  readonly locales: PageLocales
  readonly render: (locale: PageLocale) => string
}

const inPlain = (render: Exhibit['render']): Exhibit => ({ locales: plain, render })

/** Every page of the suite, by name. */
export const gallery: Readonly<Record<string, Exhibit>> = {
  consent: inPlain((locale) => consent(locale)),
  service: { locales: lumen, render: (locale) => consent(locale) },
  dangerous: { locales: lumen, render: (locale) => consent(locale, { scope: scopesIn(locale) }) },
  choice: inPlain((locale) =>
    consent(locale, {
      question: {
        text: locale.pick(descriptions.which),
        field: 'choice',
        answers: answersCalled(['Analytical Engine', 'حساب العائلة', '家族']),
      },
    }),
  ),
  list: inPlain((locale) =>
    consent(locale, {
      question: {
        text: locale.pick(descriptions.which),
        field: 'choice',
        answers: answersCalled(Array.from({ length: 20 }, (_, index) => `Workspace ${index + 1}`)),
      },
    }),
  ),
  remembered: inPlain((locale) =>
    consent(locale, {
      scope: [
        consentScope({
          token: 'photos:read',
          description: locale.pick(descriptions.see),
          allowedBefore: true,
        }),
        consentScope({
          token: 'photos:write',
          description: locale.pick(descriptions.add),
          weight: 'write',
          allowedBefore: true,
        }),
        consentScope({
          token: 'photos:delete',
          description: locale.pick(descriptions.erase),
          weight: 'danger',
          field: 'scope:photos:delete',
        }),
      ],
    }),
  ),
  obstacle: inPlain((locale) => consent(locale, { obstacle: locale.pick(descriptions.none) })),
  unverified: inPlain((locale) =>
    consent(locale, {
      client: {
        client_id: 'https://notes.example/client.json',
        client_name: 'Notes',
        unregistered: { host: 'notes.example' },
      },
      redirectTo: 'https://notes.example/callback',
    }),
  ),
  'unverified-device': inPlain((locale) =>
    consent(locale, {
      client: {
        client_id: 'https://notes.example/client.json',
        client_name: 'Notes',
        unregistered: { host: 'notes.example' },
      },
      redirectTo: 'http://127.0.0.1:51004/callback',
      receiver: 'device',
    }),
  ),
  'unverified-app': inPlain((locale) =>
    consent(locale, {
      client: { client_id: 'x', client_name: 'Notes', unregistered: { host: undefined } },
      facts: [
        {
          name: 'resource',
          label: 'Access to',
          values: [{ value: 'https://api.example/notes', description: 'Notes' }],
        },
      ],
      redirectTo: 'com.example.notes:/callback',
      receiver: 'app',
    }),
  ),
  error: inPlain((locale) => error(locale, 'authorization_request_not_open', false, true)),
  trouble: inPlain((locale) => error(locale, 'store_unavailable', true, false)),
  'too-many-apps': inPlain((locale) =>
    error(locale, 'self_registered_share_full', false, false, '/authorizations'),
  ),
  answered: inPlain((locale) =>
    answeredPage({ clientName: 'Photo Book', home: 'https://book.example/' }, locale),
  ),
  continue: inPlain((locale) =>
    continuePage({ location: 'https://book.example/callback#code=a', approved: true }, locale),
  ),
  refused: inPlain((locale) =>
    continuePage({ location: 'com.example.book:/callback#error=a', approved: false }, locale),
  ),
  'insecure-redirect': inPlain((locale) =>
    insecureRedirectPage({ location: 'http://old.example/callback?code=a', granted: true }, locale),
  ),
  'insecure-form': inPlain((locale) =>
    insecureRedirectPage(
      { location: 'http://old.example/callback', fields: { code: 'a' }, granted: true },
      locale,
    ),
  ),
  'unverified-redirect': inPlain((locale) =>
    unverifiedPage({ location: 'https://notes.example/callback?error=a', cause: 'refusal' }, locale),
  ),
  'unverified-trouble': inPlain((locale) =>
    unverifiedPage({ location: 'https://notes.example/callback?error=a', cause: 'trouble' }, locale),
  ),
  connected: { locales: lumen, render: (locale) => connected(locale) },
  'connected-many': inPlain((locale) =>
    connected(locale, {
      applications: Array.from({ length: 8 }, (_, index) =>
        application(locale, { client: { client_id: `c${index}`, client_name: `Photo Book ${index}` } }),
      ),
      removed: { client_id: 'frame', client_name: 'Photo Frame' },
      isComplete: false,
      previous: '?before=a',
      next: '?after=z',
    }),
  ),
  'connected-none': inPlain((locale) => connected(locale, { applications: [] })),
  'connected-remove': inPlain((locale) => connected(locale, { removing: application(locale) })),
  device: inPlain((locale) => deviceCode(locale)),
  'device-link': { locales: lumen, render: (locale) => deviceCode(locale, { userCode: 'WDJB-MJHT' }) },
  'device-wrong': inPlain((locale) => deviceCode(locale, { userCode: 'WDJB-MJHT', problem: 'unknown' })),
  'device-question': { locales: lumen, render: (locale) => deviceQuestion(locale) },
  'device-unverified': inPlain((locale) =>
    deviceQuestion(locale, {
      client: { client_id: 'x', client_name: 'Notes', unregistered: { host: undefined } },
      requestedFrom: undefined,
    }),
  ),
  'device-approved': inPlain((locale) => deviceAnswer(locale, 'approved')),
  'device-denied': inPlain((locale) => deviceAnswer(locale, 'denied')),
  logout: inPlain((locale) =>
    logoutQuestionPage(
      { ownerName: 'Ada', clientName: 'Photo Book', action: '?', fields: { logout_request: 'x' } },
      locale,
    ),
  ),
  'logged-out': inPlain((locale) =>
    logoutEndPage(
      { isLoggedOut: true, back: { clientName: 'Photo Book', uri: 'https://book.example/' } },
      locale,
    ),
  ),
  stayed: inPlain((locale) => logoutEndPage({ isLoggedOut: false, back: undefined }, locale)),
}

const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="14" fill="#0b6b4f"/></svg>`

/** Serves every page with its real headers, behind helmet, at `/<name>?ui_locales=<language>`. */
export async function startGallery(): Promise<StartedServer> {
  const app = express().use(helmet())
  app.get('/logo.svg', (_request, response) => void response.type('svg').send(logo))
  app.get('/favicon.ico', (_request, response) => void response.status(204).end())
  for (const [name, exhibit] of Object.entries(gallery))
    app.get(`/${name}`, ({ query: { ui_locales: asked } }, response) => {
      const locale = exhibit.locales.choose(typeof asked === 'string' ? asked : undefined, undefined)
      sendPage(response, 200, exhibit.render(locale), exhibit.locales, ['https:'])
    })
  return startServer(app)
}
