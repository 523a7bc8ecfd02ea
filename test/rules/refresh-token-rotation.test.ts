import { dpop } from '../../lib/paths/dpop'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { redemption, type Fields } from '../support/flows/flow'
import { Gate } from '../support/flows/gate'
import { keyedRefreshTokens } from '../support/flows/keyed-tokens'
import { outcomeOf } from '../support/flows/outcome'
import { Prover } from '../support/flows/prover'
import { gallery, job, photosApi, printApi, reportsApi, withResources } from '../support/flows/resources'
import { setStage } from '../support/flows/stage'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { waitUntil } from '../support/wait-until'

const off = { refreshTokenRotation: false }
const day = 24 * 3600

test('[RTR-1] refresh tokens of public clients rotate, whatever the option says', async () => {
  const { flow, clock, failures } = setStage(off)
  const { refreshToken } = await flow.tokens(photoBook)
  const next = tokensOf(await flow.refresh(photoBook, refreshToken)).refreshToken
  expect(next).not.toBe(refreshToken)
  clock.advance(30)
  expect(refusalOf(await flow.refresh(photoBook, refreshToken))).toBe('400 invalid_grant')
  expect(failures.at(-1)?.reason).toBe('refresh_token_reused')
  const never = { clients: [bent(photoBook, { refresh_token_rotation: false }).registration] }
  expect(() => setStage(never)).toThrow(/refresh_token_rotation must not be false for a public client/)
})

test('[RTR-2] a refresh token of a public client that is bound to a key stays good with this key alone', async () => {
  const { flow } = setStage({ ...off, plugins: [keyedRefreshTokens] })
  const { client_id } = photoBook.registration
  const send = (fields: object, headers: Record<string, string>) =>
    flow.submit('/token', { client_id, ...fields }, undefined, headers)
  const code = await flow.approve(photoBook)
  const { refresh_token } = (await send(redemption(photoBook, code), { Key: 'k-1' })).body
  const refresh = (headers: Record<string, string>) =>
    send({ grant_type: 'refresh_token', refresh_token }, headers)
  expect(outcomeOf(await refresh({ Key: 'k-2' }))).toBe('400 invalid_grant')
  expect(outcomeOf(await refresh({}))).toBe('400 invalid_grant')
  for (let round = 0; round < 2; round++)
    expect((await refresh({ Key: 'k-1' })).body.refresh_token).toBe(refresh_token)
  // A refresh token that this request binds was free before, so it rotates.
  const free = await flow.tokens(photoBook)
  const binding = { grant_type: 'refresh_token', refresh_token: free.refreshToken }
  expect((await send(binding, { Key: 'k-1' })).body.refresh_token).not.toBe(free.refreshToken)
})

test('[RTR-2] a refresh token that DPoP has bound stays good, and one that it binds rotates once more', async () => {
  const { flow, clock } = setStage({ ...off, plugins: [dpop({ baseUrl: 'http://localhost' })] })
  const prover = new Prover(clock.read)
  const send = async (fields: Fields) => (await prover.tokens(flow, fields)).body.refresh_token
  const refresh = (refresh_token: string) => send({ grant_type: 'refresh_token', refresh_token })
  const bound = await send(redemption(photoBook, await flow.approve(photoBook)))
  expect(bound).toMatch(/^rt_/)
  for (let round = 0; round < 2; round++) expect(await refresh(bound)).toBe(bound)
  const free = await flow.tokens(photoBook)
  const next = await refresh(free.refreshToken)
  expect(next).toMatch(/^rt_/)
  expect(next).not.toBe(free.refreshToken)
})

test('[RTR-3] a kept refresh token is good for its client alone, which authenticates', async () => {
  const { flow } = setStage(off)
  const { refreshToken: refresh_token } = await flow.tokens(photoPrint)
  const fields = { grant_type: 'refresh_token', refresh_token }
  expect(outcomeOf(await flow.submit('/token', { client_id: 'photo-print', ...fields }))).toBe(
    '401 invalid_client',
  )
  expect(outcomeOf(await flow.request(photoBook, fields))).toBe('400 invalid_grant')
  expect(outcomeOf(await flow.request(photoPrint, fields))).toBe('tokens')
})

test('[RTR-4] a refresh without rotation gives a new access token, and names the same refresh token', async () => {
  const { flow } = setStage(off)
  const first = await flow.tokens(photoPrint)
  const second = tokensOf(await flow.refresh(photoPrint, first.refreshToken))
  const third = tokensOf(await flow.refresh(photoPrint, first.refreshToken))
  expect([second.refreshToken, third.refreshToken]).toEqual([first.refreshToken, first.refreshToken])
  const accessTokens = [first, second, third].map(({ accessToken }) => accessToken)
  expect(new Set(accessTokens).size).toBe(3)
  for (const token of accessTokens) expect((await flow.photos(token)).status).toBe(200)
})

test('[RTR-5] a kept refresh token expires if it is not used, and no use moves the end of its grant', async () => {
  const { flow, clock } = setStage({ ...off, lifetimes: { refreshToken: day, grant: 2 * day } })
  const { refreshToken } = await flow.tokens(photoPrint)
  const idle = await flow.tokens(photoPrint, {}, 'bob')
  clock.advance(day - 1)
  tokensOf(await flow.refresh(photoPrint, refreshToken))
  clock.advance(1)
  expect(refusalOf(await flow.refresh(photoPrint, idle.refreshToken))).toBe('400 invalid_grant')
  clock.advance(day - 2)
  expect(tokensOf(await flow.refresh(photoPrint, refreshToken)).expiresIn).toBe(2)
  clock.advance(2)
  expect(refusalOf(await flow.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
})

test('[RTR-6] a refresh token that a rotation has replaced stays replaced, whichever way the option changes', async () => {
  const rotating = setStage()
  const keeping = setStage({ ...off, store: rotating.store, clock: rotating.clock.read })
  const { refreshToken: one } = await rotating.flow.tokens(photoPrint)
  const two = tokensOf(await rotating.flow.refresh(photoPrint, one)).refreshToken
  expect(tokensOf(await keeping.flow.refresh(photoPrint, two)).refreshToken).toBe(two)
  const three = tokensOf(await rotating.flow.refresh(photoPrint, two)).refreshToken
  rotating.clock.advance(30)
  for (const former of [one, two])
    expect(refusalOf(await keeping.flow.refresh(photoPrint, former))).toBe('400 invalid_grant')
  expect(keeping.failures[0]?.reason).toBe('refresh_token_reused')
  expect(refusalOf(await rotating.flow.refresh(photoPrint, three))).toBe('400 invalid_grant')
})

test('[RTR-7] a kept refresh token gives no more scope and no other resource than the owner approved', async () => {
  const plain = setStage(off)
  const reading = await plain.flow.tokens(photoPrint, { scope: 'photos:read' })
  const wider = await plain.flow.refresh(photoPrint, reading.refreshToken, { scope: 'photos:print' })
  expect(refusalOf(wider)).toBe('400 invalid_scope')
  const { flow } = setStage(withResources({ ...off, defaultResource: photosApi }))
  const asked = { scope: 'photos:read photos:print', resource: [photosApi, printApi] }
  const { refreshToken } = await flow.tokens(gallery, asked)
  const refresh = (bend: Record<string, string>) => flow.refresh(gallery, refreshToken, bend)
  expect(refusalOf(await refresh({ scope: 'reports:write' }))).toBe('400 invalid_scope')
  expect(refusalOf(await refresh({ resource: reportsApi }))).toBe('400 invalid_target')
  const narrow = tokensOf(await refresh({ scope: 'photos:read', resource: printApi }))
  expect((await flow.introspect(job, narrow.accessToken)).body).toMatchObject({
    scope: 'photos:read',
    aud: [printApi],
  })
})

test.each([
  ['the client revokes it', 'client'],
  ['the host ends what the owner approved', 'owner'],
  ['stillAllowed says so', 'host'],
])('[RTR-8] a kept refresh token ends with its access tokens when %s', async (_what, who) => {
  let allowed = true
  const { flow, oauth } = setStage({ ...off, authorizations: true, stillAllowed: () => allowed })
  const { refreshToken } = await flow.tokens(photoPrint)
  const { accessToken } = tokensOf(await flow.refresh(photoPrint, refreshToken))
  if (who === 'client') await flow.revoke(photoPrint, refreshToken)
  if (who === 'owner') await oauth.authorizations.revokeAll('alice')
  allowed = who !== 'host'
  expect(refusalOf(await flow.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
  expect((await flow.photos(accessToken)).status).toBe(401)
})

test('[RTR-9] parallel refreshes with a kept refresh token all get a token that is good', async () => {
  const one = setStage(off)
  const two = setStage({ ...off, store: one.store, clock: one.clock.read })
  const { refreshToken } = await one.flow.tokens(photoPrint)
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, index) =>
      (index % 2 === 0 ? one : two).flow.refresh(photoPrint, refreshToken),
    ),
  )
  for (const token of new Set(answers.map((answer) => tokensOf(answer).accessToken)))
    expect((await one.flow.photos(token)).status).toBe(200)
})

test('[RTR-9] a refresh that loses the race gets the token of the winner, and the record holds no other one', async () => {
  const { flow, store } = setStage(off)
  const { refreshToken } = await flow.tokens(photoPrint)
  const { write } = store
  const gate = new Gate()
  store.write = async (key, ...words) => {
    if (key.startsWith('authorization:')) {
      store.write = write
      await gate.pass()
    }
    return write(key, ...words)
  }
  const losing = flow.refresh(photoPrint, refreshToken)
  await waitUntil('a write is held', async () => gate.waiting > 0)
  const won = tokensOf(await flow.refresh(photoPrint, refreshToken))
  gate.open()
  expect(tokensOf(await losing)).toEqual(won)
})
