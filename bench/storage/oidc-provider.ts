import type { Adapter, AdapterPayload } from 'oidc-provider' with { 'resolution-mode': 'import' }
import { redis } from './records'

const grantable = new Set(['AccessToken', 'AuthorizationCode', 'RefreshToken'])
const consumable = new Set(['AuthorizationCode', 'RefreshToken'])

/** One kind of record, laid out as in the peer's example: a hash where use is marked, the keys of a grant in a list. */
export function redisAdapter(kind: string): Adapter {
  const keyOf = (id: string) => `${kind}:${id}`
  const find = async (id: string): Promise<AdapterPayload | undefined> => {
    if (!consumable.has(kind)) return parsed(await redis.get(keyOf(id)))
    const { payload, ...marks } = await redis.hgetall(keyOf(id))
    return payload === undefined ? undefined : { ...parsed(payload), ...marks }
  }
  return {
    find,
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
      return id === null ? undefined : find(id)
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

function uidKeyOf(uid: string): string {
  return `uid:${uid}`
}

function grantKeyOf(grantId: string): string {
  return `grant:${grantId}`
}

function parsed(text: string | null): AdapterPayload | undefined {
  return text === null ? undefined : JSON.parse(text)
}
