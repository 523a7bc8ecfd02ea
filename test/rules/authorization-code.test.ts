import { memoryStore } from '../../lib/index'
import { application } from '../support/flows/application'
import { photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { setStage } from '../support/flows/stage'
import { outcomeOf } from '../support/flows/outcome'
import { tokensOf } from '../support/flows/tokens'

test('[COD-1] codes share no part of 128 random bits, and nothing can be read in them [code-1]', async () => {
  const { flow } = setStage()
  const codes = await Promise.all(Array.from({ length: 20 }, () => flow.approve(photoBook)))
  const bytes = codes.map((code) => Buffer.from(code.slice('ac_'.length), 'base64url'))
  expect(new Set(bytes.map((all) => all.subarray(0, 16).toString('hex'))).size).toBe(codes.length)
  expect(new Set(bytes.map((all) => all.subarray(16).toString('hex'))).size).toBe(codes.length)
  for (const all of bytes) {
    expect(all.length - 16).toBeGreaterThanOrEqual(16)
    for (const secret of ['alice', 'photo', 'book.example']) expect(all.includes(secret)).toBe(false)
  }
})

test('[COD-2, OIC-34] a code is good for no other client [code-4]', async () => {
  const { flow } = setStage()
  const code = await flow.approve(photoPrint)
  const redirect_uri = photoPrint.registration.redirect_uris[0]
  for (const thief of [photoBook, photoFrame])
    expect(outcomeOf(await flow.redeem(thief, code, { redirect_uri }))).toBe('400 invalid_grant')
  expect(outcomeOf(await flow.redeem(photoPrint, code))).toBe('tokens')
})

test.each(['https://print.example/other', 'https://print.example/callback/', undefined])(
  '[COD-2, OIC-34] a code is good with no other redirection URI: %p [redirect-9]',
  async (redirect_uri) => {
    const { flow } = setStage()
    const code = await flow.approve(photoPrint)
    expect(outcomeOf(await flow.redeem(photoPrint, code, { redirect_uri }))).toBe('400 invalid_grant')
  },
)

test('[COD-3] a code lives for a minute unless configured, and never longer than ten [code-8]', async () => {
  const { flow, clock } = setStage()
  const [good, late] = [await flow.approve(photoPrint), await flow.approve(photoPrint)]
  clock.advance(59)
  expect(outcomeOf(await flow.redeem(photoPrint, good))).toBe('tokens')
  clock.advance(1)
  expect(outcomeOf(await flow.redeem(photoPrint, late))).toBe('400 invalid_grant')
  expect(() => setStage({ lifetimes: { authorizationCode: 601 } })).toThrow('lifetimes.authorizationCode')
  expect(() => setStage({ lifetimes: { authorizationCode: 600 } })).not.toThrow()
})

test('[COD-4] of many redemptions at once, on two servers, exactly one succeeds', async () => {
  const store = memoryStore()
  const servers = [application({ store }), application({ store })]
  const [{ flow }] = [servers[0] ?? application()]
  const code = await flow.approve(photoPrint)
  const attempts = Array.from({ length: 10 }, () =>
    servers.map((server) => server.flow.redeem(photoPrint, code)),
  )
  const outcomes = (await Promise.all(attempts.flat())).map(outcomeOf)
  expect(outcomes.filter((outcome) => outcome === 'tokens')).toHaveLength(1)
  expect(new Set(outcomes)).toEqual(new Set(['tokens', '400 invalid_grant']))
})

test('[COD-5, OIC-34] a second use kills the access and the refresh token that came of the first [code-2]', async () => {
  const { flow } = setStage()
  const code = await flow.approve(photoPrint)
  const { accessToken, refreshToken } = tokensOf(await flow.redeem(photoPrint, code))
  expect((await flow.photos(accessToken)).status).toBe(200)
  expect(outcomeOf(await flow.redeem(photoPrint, code))).toBe('400 invalid_grant')
  expect((await flow.photos(accessToken)).status).toBe(401)
  expect(outcomeOf(await flow.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
})

test('[COD-6, OIC-34] a code of the past is an invalid grant [code-7]', async () => {
  const { flow, clock } = setStage({ lifetimes: { authorizationCode: 10 } })
  const code = await flow.approve(photoPrint)
  clock.advance(10)
  expect(outcomeOf(await flow.redeem(photoPrint, code))).toBe('400 invalid_grant')
})
