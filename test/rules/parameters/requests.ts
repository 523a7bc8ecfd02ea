import type { Response } from 'supertest'
import type { AuthorizationServerOptions } from '../../../lib/index'
import { requestObjects } from '../../../lib/paths/pushed-requests'
import type { Mount } from '../../support/flows/application'
import {
  bent,
  nightlyReport,
  photoBook,
  photoPrint,
  type ClientApplication,
} from '../../support/flows/clients'
import { consentFormOf } from '../../support/flows/consent-form'
import { objectClaims, requestObject as signed, signingPrint } from '../../support/flows/request-object'
import type { Stage } from '../../support/flows/stores-of-run'
import { authorizationRequest, redemption, type Fields } from '../../support/flows/flow'

/** A good request of some kind, and how it is sent. */
export interface Kind {
  readonly good: string
  /** Of the server; left out: every client of these requests and nothing else. */
  readonly options?: Partial<AuthorizationServerOptions>
  /** What the host mounts; left out: the router, and a guarded route. */
  readonly mount?: Mount
  readonly fields: (set: Stage) => Promise<Fields>
  /** Sends the form; a large one does not fit into a URI. */
  readonly send: (set: Stage, form: string) => Promise<readonly Response[]>
}

export const asQueryAndForm: Kind['send'] = async ({ flow }, form) => [
  ...(form.length < 8000 ? [await flow.ask(form, 'alice')] : []),
  await flow.submit('/authorize', form, 'alice'),
]
const asDecision: Kind['send'] = async ({ flow }, form) => [await flow.submit('/authorize', form, 'alice')]
const asPost =
  (path: string): Kind['send'] =>
  async ({ flow }, form) => [await flow.submit(path, form)]
export const asToken = asPost('/token')

export const inBody = ({ registration, secret }: ClientApplication): Fields => ({
  client_id: registration.client_id,
  client_secret: secret,
})

export const authorization: Kind = {
  good: 'question',
  fields: async () => ({ ...authorizationRequest(photoBook), response_mode: 'query' }),
  send: asQueryAndForm,
}
export const requestObject: Kind = {
  good: 'question',
  options: { clients: [signingPrint.registration], plugins: [requestObjects()] },
  fields: async ({ clock }) => ({
    client_id: 'photo-print',
    request: signed(objectClaims(Math.floor(clock.read() / 1000))),
  }),
  send: asQueryAndForm,
}
export const decision: Kind = {
  good: 'redirect code',
  fields: async ({ flow }) => {
    const page = await flow.ask(authorizationRequest(photoBook), 'alice')
    return { ...consentFormOf(page, '/authorize').fields, decision: 'approve' }
  },
  send: asDecision,
}
export const code: Kind = {
  good: 'tokens',
  fields: async ({ flow }) => ({
    ...inBody(photoBook),
    ...redemption(photoBook, await flow.approve(photoBook)),
  }),
  send: asToken,
}
export const refresh: Kind = {
  good: 'tokens',
  fields: async ({ flow }) => {
    const { refreshToken: refresh_token } = await flow.tokens(photoBook)
    return { ...inBody(photoBook), grant_type: 'refresh_token', refresh_token, scope: 'photos:read' }
  },
  send: asToken,
}
export const itself: Kind = {
  good: 'tokens',
  fields: async () => ({
    ...inBody(report),
    grant_type: 'client_credentials',
    scope: 'photos:read',
  }),
  send: asToken,
}

/** A resource server that may ask about tokens. */
const report = bent(nightlyReport, { may_introspect: true })

/** Every registration that these requests need. */
export const clients = [photoBook, photoPrint, report].map(({ registration }) => registration)

export const revocation: Kind = {
  good: 'done',
  fields: async ({ flow }) => ({
    ...inBody(photoPrint),
    token: (await flow.tokens(photoPrint)).accessToken,
    token_type_hint: 'access_token',
  }),
  send: asPost('/revoke'),
}

export const introspection: Kind = {
  good: 'active',
  fields: async ({ flow }) => ({
    ...inBody(report),
    token: (await flow.tokens(photoPrint)).accessToken,
    token_type_hint: 'access_token',
  }),
  send: asPost('/introspect'),
}
