import type { Response } from 'supertest'
import { pairing } from '../../docs/examples/pairing'
import { bent, photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { outcomeOf } from '../support/flows/outcome'
import { setStage } from '../support/flows/stage'
import { tokensOf } from '../support/flows/tokens'

const grant_type = 'https://example.com/oauth/grants/pairing'
const printer = bent(photoPrint, { grant_types: [grant_type], redirect_uris: [] })
const frame = bent(photoFrame, { grant_types: [grant_type], redirect_uris: [] })

/** A code of the printer, and the steps of its owner and its clients. */
async function begun() {
  const clients = [printer, frame, photoBook].map(({ registration }) => registration)
  const { flow, clock } = setStage({ plugins: [pairing], clients })
  const { body } = await flow.request(printer, {}, '/pairing')
  const code = String(body.pairing_code)
  const type = (owner?: string, pairing_code = code) => flow.submit('/pair', { pairing_code }, owner)
  const secretOf = async (owner: string) =>
    /"secret"\s+value="([\w-]{43})"/.exec((await type(owner)).text)?.[1]
  const confirm = async (owner: string, secret?: string, headers = {}) =>
    flow.submit('/pair', { pairing_code: code, secret: secret ?? (await secretOf(owner)) }, owner, headers)
  const poll = (client = printer, pairing_code = code) => flow.request(client, { grant_type, pairing_code })
  return { flow, clock, type, secretOf, confirm, poll }
}

const pending = '400 authorization_pending'
const refused = '400 invalid_grant'

test.each<[string, (scene: Awaited<ReturnType<typeof begun>>) => Promise<Response[]>, string[]]>([
  [
    'tokens come once, after an owner has confirmed',
    async ({ type, poll, confirm }) => [
      await type('alice'),
      await poll(),
      await confirm('alice'),
      await poll(),
      await poll(),
    ],
    ['question', pending, 'question', 'tokens', refused],
  ],
  [
    'a wrong code is refused, on the page and to the client',
    async ({ type, poll }) => [await type('alice', 'wrong'), await poll(printer, 'wrong')],
    ['page 400 invalid_grant', refused],
  ],
  [
    'the code of another client is refused, and stays good',
    async ({ confirm, poll }) => [await confirm('alice'), await poll(frame), await poll()],
    ['question', refused, 'tokens'],
  ],
  [
    'a code that has ended is refused, confirmed or not',
    async ({ confirm, poll, clock, type }) => {
      const confirmed = await confirm('alice')
      clock.advance(600)
      return [confirmed, await poll(), await type('alice')]
    },
    ['question', refused, 'page 400 invalid_grant'],
  ],
  [
    'a second owner is refused',
    async ({ confirm, secretOf }) => {
      const secret = await secretOf('mallory')
      return [await confirm('alice'), await confirm('mallory', secret)]
    },
    ['question', 'page 400 invalid_grant'],
  ],
  [
    'a form without the secret of its owner confirms nothing',
    async ({ confirm, secretOf, poll }) => [
      await confirm('alice', 'wrong'),
      await confirm('alice', await secretOf('mallory')),
      await poll(),
    ],
    ['page 400 invalid_grant', 'page 400 invalid_grant', pending],
  ],
  [
    'a form of another site confirms nothing',
    async ({ confirm, poll }) => [
      await confirm('alice', undefined, { 'Sec-Fetch-Site': 'cross-site' }),
      await poll(),
    ],
    ['page 400 invalid_request', pending],
  ],
  [
    'nobody confirms without a login, and no public client gets a code',
    async ({ flow }) => [await flow.open('/pair'), await flow.request(photoBook, {}, '/pairing')],
    ['login', '400 unauthorized_client'],
  ],
])('In the example of a pairing, %s', async (_, act, outcomes) => {
  expect((await act(await begun())).map(outcomeOf)).toEqual(outcomes)
})

test('The tokens of a pairing are for the owner who confirmed, and hold what the page showed', async () => {
  const { flow, type, confirm, poll } = await begun()
  expect((await type('alice')).text).toContain('Let photo-print have photos:read, photos:print?')
  await confirm('alice')
  const { accessToken } = tokensOf(await poll())
  expect((await flow.photos(accessToken)).body).toMatchObject({
    subject: 'alice',
    scope: ['photos:read', 'photos:print'],
  })
})
