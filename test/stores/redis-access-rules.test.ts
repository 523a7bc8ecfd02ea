import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { consentsAtMost } from '../../lib/authorization/consent-store'
import { redisStore, type RedisStore } from '../../lib/index'
import { findRecord, saveRecord, threeVersions } from '../../lib/testing/example-records'
import { photoBook } from '../support/flows/clients'
import type { Redis } from 'ioredis'
import { withRedis } from '../support/with-redis'

describe('redisStore', () => {
  let redis: Redis
  let url = ''
  withRedis(
    ({ server, client }) => {
      url = server.url
      redis = client
    },
    { own: true },
  )

  let store: RedisStore | undefined
  // An open connection would keep the process alive after a failure.
  afterEach(() => store?.close())

  it('needs no more rights than the page of stores says', async () => {
    const page = readFileSync(join(__dirname, '../../docs/stores.md'), 'utf8')
    const [, named = ''] = /^`redisStore` needs `(.+?)`/m.exec(page) ?? []
    const rules = ['resetchannels', '-@all', '+info', ...named.split(' ')]
    expect(rules).toContain('+time')
    await redis.call('ACL', 'SETUSER', 'limited', 'on', '>secret', '~oauth:*', ...rules)
    store = redisStore({ url: url.replace('//', '//limited:secret@') })
    const [first, second] = threeVersions()
    expect(await saveRecord(store, first)).toBe(true)
    expect(await saveRecord(store, second, first)).toBe(true)
    expect(await Promise.all([findRecord(store, first), findRecord(store, first)])).toEqual([second, second])
    await store.remove(first.authorization.id)
    expect(await store.counters.add('a', 1, 60)).toMatchObject({ count: 1 })
    expect(await store.counters.add('a', -1, 60)).toMatchObject({ count: 0 })
    expect(await store.counters.useOnce('a', 60)).toBe(true)
    const { registration } = photoBook
    expect(await store.clients.add(registration)).toBe(true)
    await store.clients.update(registration.client_id, (client) => ({ ...client, disabled: true }))
    expect(await store.clients.list()).toMatchObject([{ disabled: true }])
    const dynamic = { registration, issuedAt: 1, secretExpiries: [], registrationTokenDigest: undefined }
    const added = await store.dynamicClients.add({ client: dynamic, lifetime: 60, maximum: 1 })
    expect(added).toMatchObject({ outcome: 'stored' })
    await store.dynamicClients.update(registration.client_id, (client) => ({ ...client, issuedAt: 2 }))
    await store.dynamicClients.extend(registration.client_id, 120, 120)
    expect(await store.dynamicClients.find(registration.client_id)).toMatchObject({ issuedAt: 2 })
    const unused = { client: dynamic, lifetime: 60, maximum: 2, network: 'abcd', grace: 0 }
    for (const client_id of ['one', 'two', 'two'])
      await store.dynamicClients.add({
        ...unused,
        client: { ...dynamic, registration: { ...registration, client_id } },
      })
    expect(await store.dynamicClients.find('one')).toBeUndefined()
    await store.dynamicClients.extend('two', 30, 30)
    await store.dynamicClients.remove(registration.client_id)
    await store.sharedCache.set('a', 'text', 60)
    expect(await store.sharedCache.get('a')).toBe('text')
    const entry = { authorizationId: 'a'.repeat(22), clientId: 'book' }
    expect(await store.index.add('owner', entry, { seconds: 60, age: 0 })).toBe('added')
    await store.index.mark('owner', 60)
    await store.index.remove('owner', [])
    expect(await store.index.list('owner')).toEqual([entry])
    await store.index.remove('owner', [entry.authorizationId])
    const terms = { seconds: 60, age: 0 }
    for (let client = 0; client <= consentsAtMost; client++)
      expect(await store.consents.remember('owner', `client ${client}`, 'text', terms)).toBe(true)
    expect(await store.consents.find('owner', 'client 9')).toBe('text')
    await store.consents.forget('owner', 'client 9')
    await store.consents.forget('owner', undefined)
    expect(await store.check()).toEqual([])
  })
})
