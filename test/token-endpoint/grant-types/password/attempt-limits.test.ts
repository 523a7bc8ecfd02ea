import { attemptLimits } from '../../../../lib/token-endpoint/grant-types/password/password'
import { clientWith } from '../../../support/authorization/client'

const limits = {
  username: { attempts: 1, seconds: 10 },
  address: { attempts: 2, seconds: 20 },
  client: { attempts: 3, seconds: 30 },
}
const client = clientWith()
const keysOf = (username: string, bend: { address?: string; client_id?: string } = {}) => {
  const named = clientWith({ client_id: bend.client_id ?? 'photo-printer' })
  return attemptLimits({ client: named, address: bend.address }, username, limits).map(({ key }) => key)
}

describe('what a guess at a password counts towards', () => {
  it('is its address, its user name and its client, in this order', () => {
    const found = attemptLimits({ client, address: '192.0.2.7' }, 'alice', limits)
    expect(found.map(({ attempts, seconds }) => [attempts, seconds])).toEqual([
      [2, 20],
      [1, 10],
      [3, 30],
    ])
  })

  it('has a reason of its own each, and one text', () => {
    const errors = attemptLimits({ client, address: undefined }, 'alice', limits).map(({ refusal }) =>
      refusal(7),
    )
    expect(errors.map(({ reason }) => reason)).toEqual([
      'password_address_limited',
      'password_username_limited',
      'password_client_limited',
    ])
    expect(new Set(errors.map(({ code, description }) => `${code}: ${description}`)).size).toBe(1)
    expect(errors).toEqual(errors.map(() => expect.objectContaining({ retryAfter: 7 })))
  })

  it('leaves out what is switched off', () => {
    const off = { ...limits, address: undefined, client: undefined }
    const found = attemptLimits({ client, address: '192.0.2.7' }, 'alice', off)
    expect(found.map(({ attempts }) => attempts)).toEqual([1])
  })

  it('tells a store neither name nor address', () => {
    for (const key of keysOf('alice', { address: '192.0.2.7' }))
      expect(key).toMatch(/^password:(?:username|address|client):[A-Za-z0-9_-]{43}$/)
  })

  it('counts each kind for itself, even under one word', () => {
    expect(new Set(keysOf('unknown', { client_id: 'unknown' })).size).toBe(3)
  })
})
