import { lifetimes } from '../cast'
import type { Adapter, AdapterPayload } from 'oidc-provider' with { 'resolution-mode': 'import' }
import { find, memory, redis, remove, save } from './records'

const grantable = new Set(['AccessToken', 'AuthorizationCode', 'RefreshToken'])
const consumable = new Set(['AuthorizationCode', 'RefreshToken'])

/** Keeps one kind of record. */
export function adapterOf(kind: string): Adapter {
  return memory === undefined ? redisAdapter(kind) : memoryAdapter(kind)
}

/** Laid out as in the peer's example: a hash where use is marked, the keys of a grant in a list. */
function redisAdapter(kind: string): Adapter {
  const keyOf = (id: string) => `${kind}:${id}`
  const findHere = async (id: string): Promise<AdapterPayload | undefined> => {
    if (!consumable.has(kind)) return parsed(await redis.get(keyOf(id)))
    const { payload, ...marks } = await redis.hgetall(keyOf(id))
    return payload === undefined ? undefined : { ...parsed(payload), ...marks }
  }
  return {
    find: findHere,
    async upsert(id, payload, seconds = 0) {
      const key = keyOf(id)
      const text = JSON.stringify(payload)
      const writes = redis.multi()
      if (consumable.has(kind)) writes.hset(key, 'payload', text).expire(key, seconds)
      else writes.set(key, text, 'EX', seconds)
      if (grantable.has(kind) && payload.grantId !== undefined) {
        const grantKey = grantKeyOf(payload.grantId)
        writes.rpush(grantKey, key).expire(grantKey, seconds, 'NX').expire(grantKey, seconds, 'GT')
      }
      if (kind === 'Session' && payload.uid !== undefined)
        writes.set(uidKeyOf(payload.uid), id, 'EX', seconds)
      await writes.exec()
    },
    async findByUid(uid) {
      const id = await redis.get(uidKeyOf(uid))
      return id === null ? undefined : findHere(id)
    },
    async findByUserCode() {
      throw new Error('The device flow is not in the benchmark.')
    },
    async consume(id) {
      await redis.hset(keyOf(id), 'consumed', Math.floor(Date.now() / 1000))
    },
    async destroy(id) {
      await redis.del(keyOf(id))
    },
    async revokeByGrantId(grantId) {
      const grantKey = grantKeyOf(grantId)
      await redis.del(...(await redis.lrange(grantKey, 0, -1)), grantKey)
    },
  }
}

/** In memory, laid out as in the peer's own adapter. */
function memoryAdapter(kind: string): Adapter {
  const keyOf = (id: string) => `${kind}:${id}`
  return {
    find: (id) => find(keyOf(id)),
    async upsert(id, payload, seconds = 0) {
      const key = keyOf(id)
      await save(key, payload, seconds)
      if (grantable.has(kind) && payload.grantId !== undefined) {
        const grantKey = grantKeyOf(payload.grantId)
        const kept = await find<string[]>(grantKey)
        if (kept === undefined) await save(grantKey, [key], lifetimes.refreshToken)
        else kept.push(key)
      }
      if (kind === 'Session' && payload.uid !== undefined) await save(uidKeyOf(payload.uid), { id }, seconds)
    },
    async findByUid(uid) {
      const session = await find<{ readonly id: string }>(uidKeyOf(uid))
      return session === undefined ? undefined : find(keyOf(session.id))
    },
    async findByUserCode() {
      throw new Error('The device flow is not in the benchmark.')
    },
    async consume(id) {
      const payload = await find<AdapterPayload>(keyOf(id))
      if (payload !== undefined) payload['consumed'] = Math.floor(Date.now() / 1000)
    },
    async destroy(id) {
      await remove(keyOf(id))
    },
    async revokeByGrantId(grantId) {
      const grantKey = grantKeyOf(grantId)
      await remove(...((await find<string[]>(grantKey)) ?? []), grantKey)
    },
  }
}

function uidKeyOf(uid: string): string {
  return `uid:${uid}`
}

function grantKeyOf(grantId: string): string {
  return `grant:${grantId}`
}

function parsed(text: string | null): AdapterPayload | undefined {
  return text === null ? undefined : JSON.parse(text)
}
