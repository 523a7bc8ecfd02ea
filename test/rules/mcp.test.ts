import type { Redis } from 'ioredis'
import { createAuthorizationServer } from '../../lib/index'
import { redisStore } from '../../lib/paths/redis'
import { application, canonicalOptions } from '../support/flows/application'
import { bent, photoBook } from '../support/flows/clients'
import { setStage } from '../support/flows/stage'
import { dumpOf, spellingsOf } from '../support/flows/stolen-dump'
import { withRedis } from '../support/with-redis'

describe('a store on Redis', () => {
  let redis: Redis
  withRedis(({ client }) => void (redis = client), { own: true })

  test('[MCP-10] the store holds no usable token or code [code-19]', async () => {
    const { flow } = application({ store: redisStore({ client: redis }) })
    const code = await flow.approve(photoBook)
    const { accessToken, refreshToken } = await flow.tokens(photoBook)
    const dump = (await dumpOf(redis)).join('\n')
    expect(dump).not.toBe('')
    const credentials = [code, accessToken, refreshToken].flatMap(spellingsOf)
    expect(credentials.filter((text) => dump.includes(text))).toEqual([])
  })
})

test('[MCP-12] clients register redirection URIs with https or on loopback, and no others', () => {
  const options = { ...canonicalOptions, redirectUris: 'https or loopback' } as const
  const serverFor = (uri: string) =>
    createAuthorizationServer({
      ...options,
      clients: [bent(photoBook, { redirect_uris: [uri] }).registration],
    })
  for (const uri of ['https://book.example/callback', 'http://127.0.0.1/callback', 'http://localhost:9/a'])
    expect(() => serverFor(uri)).not.toThrow()
  for (const uri of ['com.example.book:/callback', 'http://book.example/callback'])
    expect(() => serverFor(uri)).toThrow('redirect_uris[0]')
})

test('[MCP-32] a scope that implies another is enough where the other is needed', async () => {
  const { flow } = setStage({ implies: { 'photos:print': ['photos:read'] } })
  const { accessToken } = await flow.tokens(photoBook, { scope: 'photos:print' })
  expect((await flow.photos(accessToken)).body).toMatchObject({ scope: ['photos:print'] })
})
