import helmet from 'helmet'
import type { Response } from 'supertest'
import { implicit } from '../../lib/index'
import { mountAll, type Mount } from '../support/flows/application'
import { bent, photoBook } from '../support/flows/clients'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'

const asked = authorizationRequest(photoBook)
const insecure = bent(photoBook, { redirect_uris: ['http://old.example/cb'], insecure_redirect_uris: true })
const token = bent(photoBook, { grant_types: ['implicit'], response_types: ['token'] })

const one = { openRequestLimit: { attempts: 1 } }
const pages: readonly [string, object, (stage: Stage) => Promise<Response>][] = [
  ['consent', {}, ({ flow }) => flow.ask(asked, 'alice')],
  ['error', {}, ({ flow }) => flow.ask({ ...asked, client_id: 'nobody' }, 'alice')],
  [
    'error about too many requests',
    one,
    async ({ flow }) => {
      await flow.ask(asked, 'alice')
      return flow.ask(asked, 'alice')
    },
  ],
  [
    'continue',
    { clients: [token.registration], responseTypes: [implicit({ redirectBy: 'page' })] },
    ({ flow }) => {
      const rest = {
        ...authorizationRequest(token),
        code_challenge: undefined,
        code_challenge_method: undefined,
      }
      return flow.ask({ ...rest, response_type: 'token', scope: 'unheard-of' }, 'alice')
    },
  ],
  [
    'insecure redirect',
    { clients: [insecure.registration] },
    ({ flow }) => flow.ask({ ...authorizationRequest(insecure), scope: 'unheard-of' }, 'alice'),
  ],
]

const behindHelmet: Mount = (app, oauth) => {
  app.use(helmet())
  mountAll(app, oauth)
}

describeOnStores('The page', (stage) => {
  describe.each([
    ['alone', mountAll],
    ['behind helmet', behindHelmet],
  ] as const)('%s', (_, mount) => {
    test.each(pages)(
      'for %s is kept by nobody, framed by nobody, and runs no script',
      async (_name, options, open) => {
        const { headers, text } = await open(stage(options, { mount }))
        expect(headers).toMatchObject({
          'content-type': 'text/html; charset=utf-8',
          'cache-control': 'no-store',
          pragma: 'no-cache',
          'referrer-policy': 'same-origin',
          'x-content-type-options': 'nosniff',
          'x-frame-options': 'DENY',
        })
        expect(headers['content-security-policy']).toMatch(
          /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]+'; img-src 'self' https:; form-action [^;*]+; frame-ancestors 'none'; base-uri 'none'$/,
        )
        expect(text).not.toMatch(
          /<script|<iframe|<object|<embed|<base|http-equiv|javascript:| on\w+=| style=/i,
        )
      },
    )
  })
})
