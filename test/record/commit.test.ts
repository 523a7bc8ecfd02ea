import type { Active, Authorization } from '../../lib/authorization/authorization'
import { begin, commit, end } from '../../lib/authorization/commit'
import { issueDirectly } from '../../lib/authorization/issue'
import type { AuthorizationStore } from '../../lib/authorization/store'
import { type Transition, unrestricted } from '../../lib/authorization/transition'
import { Throttled } from '../../lib/protocol/oauth-error'
import { overLimit, refused } from '../../lib/protocol/refusals'
import { countedRandom, granted, tokenTypes, usual, World } from './world'
import { noon } from '../support/noon'

const random = countedRandom()
const world = () => new World({ beginning: 'form', tokenType: 'bearer', keeps: false, lifetimes: usual })
const context = {
  now: noon,
  issuerDigest: 'digest of issuer',
  random,
  lifetimes: usual,
  tokenTypes,
  countIssue: () => {},
  restrict: unrestricted,
}
const fresh = (): Active =>
  issueDirectly({ ...granted, subject: undefined, refreshToken: false }, context).authorization

/** Counts in the record, so that a change that is lost or done twice shows. */
const count: Transition<number> = (current) => {
  if (current?.state !== 'active') return { action: 'none', refusal: gone }
  const spent = Number(current.spentCode ?? 0) + 1
  return { action: 'save', authorization: { ...current, spentCode: `${spent}` }, outcome: spent }
}
const gone = refused('code_unknown')

type Verb = 'find' | 'save' | 'remove'

/** A store with one record, and what each call of a verb does instead the first times: nothing, or its act and then a failure. */
function shelf(
  record: Authorization,
  failing: Partial<Record<Verb, readonly ('lost' | 'failed' | Error)[]>> = {},
) {
  const inner = world().records
  const calls: Verb[] = []
  const left: Partial<Record<Verb, ('lost' | 'failed' | Error)[]>> = {}
  for (const verb of ['find', 'save', 'remove'] as const) left[verb] = [...(failing[verb] ?? [])]
  const through = async <T>(verb: Verb, act: () => Promise<T>): Promise<T> => {
    calls.push(verb)
    const trouble = left[verb]?.shift()
    if (trouble === 'failed') throw new Error(`${verb} failed`)
    if (trouble instanceof Error) throw trouble
    const answer = await act()
    if (trouble === 'lost') throw new Error(`${verb} lost its reply`)
    return answer
  }
  const store: AuthorizationStore = {
    find: (id) => through('find', () => inner.find(id)),
    save: (...words) => through('save', () => inner.save(...words)),
    remove: (id) => through('remove', () => inner.remove(id)),
  }
  const counted = async () => {
    const found = (await inner.find(record.id))?.authorization
    return found?.state === 'active' ? (found.spentCode ?? '0') : 'gone'
  }
  return { store, inner, calls, counted, ready: () => inner.save(record, 'first') }
}

const remove: Transition<string> = () => ({ action: 'delete', outcome: 'removed' })
const refuse: Transition<string> = () => ({ action: 'none', refusal: gone })
const refuseAndRemove: Transition<string> = () => ({ action: 'delete', refusal: gone })
const touch: Transition<string> = () => ({ action: 'touch', outcome: 'touched' })
const full = overLimit('owner_share_full', 60)
const unavailable = refused('store_unavailable')

describe('A commit', () => {
  it.each<[string, Transition<unknown>, NonNullable<Parameters<typeof shelf>[1]>, unknown, string]>([
    ['saves', count, {}, 1, '1'],
    ['removes', remove, {}, 'removed', 'gone'],
    ['confirms what it has read', touch, {}, 'touched', '0'],
    ['writes nothing for a mere refusal', refuse, {}, gone, '0'],
    ['refuses after its write', refuseAndRemove, {}, gone, 'gone'],
    ['takes a save for done whose reply was lost, once', count, { save: ['lost'] }, 1, '1'],
    ['fails where the save failed', count, { save: ['failed'] }, new Error('save failed'), '0'],
    [
      'fails where nobody knows whether it is saved',
      count,
      { save: ['lost', 'failed'] },
      new Error('save lost its reply'),
      '1',
    ],
    [
      'does not save once more what was unavailable and is not there',
      count,
      { save: [unavailable] },
      unavailable,
      '0',
    ],
    ['passes on that there is no room', count, { save: [full] }, full, '0'],
    ['removes once more where the reply was lost', remove, { remove: ['lost'] }, 'removed', 'gone'],
    ['removes once more where it failed', remove, { remove: ['failed'] }, 'removed', 'gone'],
    [
      'fails where it cannot remove',
      remove,
      { remove: ['failed', 'failed'] },
      new Error('remove failed'),
      '0',
    ],
    [
      'refuses nothing where it could not write what it refuses with',
      refuseAndRemove,
      { remove: ['failed', 'failed'] },
      new Error('remove failed'),
      '0',
    ],
    ['fails where it cannot read', count, { find: ['failed'] }, new Error('find failed'), '0'],
  ])('%s', async (_what, transition, failing, expected, left) => {
    const record = fresh()
    const { store, ready, counted } = shelf(record, failing)
    await ready()
    const ended = await commit(store, record.id, transition, random).catch((error: unknown) => error)
    expect([ended, await counted()]).toEqual([expected, left])
  })

  it('of two writers lets one win, and the other decides anew on what it wrote, knowing what it had read', async () => {
    const record = fresh()
    const { store, inner, ready, counted } = shelf(record)
    await ready()
    const seen: unknown[] = []
    let isFirst = true
    const beside: AuthorizationStore = {
      ...store,
      save: async (...words) => {
        if (isFirst) {
          isFirst = false
          await commit(inner, record.id, count, random)
        }
        return store.save(...words)
      },
    }
    const watched: Transition<number> = (current, superseded) => {
      seen.push(superseded?.state === 'active' ? (superseded.spentCode ?? '0') : undefined)
      return count(current, superseded)
    }
    expect(await commit(beside, record.id, watched, random)).toBe(2)
    expect([seen, await counted()]).toEqual([[undefined, '0'], '2'])
  })

  it('does not write back what was removed meanwhile [revocation-5]', async () => {
    const record = fresh()
    const { store, inner, ready, counted } = shelf(record)
    await ready()
    const beside: AuthorizationStore = {
      ...store,
      save: async (...words) => {
        await inner.remove(record.id)
        return store.save(...words)
      },
    }
    await expect(commit(beside, record.id, count, random)).rejects.toBe(gone)
    expect(await counted()).toBe('gone')
  })

  it.each([
    [15, 'wins in the sixteenth round still'],
    [16, 'gives up after it'],
  ])('that meets %i conflicts %s', async (conflicts) => {
    const record = fresh()
    const { inner, ready } = shelf(record)
    await ready()
    let left = conflicts
    const revisions = new Set<string>()
    const moving: AuthorizationStore = {
      find: (id) => inner.find(id),
      remove: (id) => inner.remove(id),
      save: async (authorization, revision, expected) => {
        revisions.add(revision)
        return left-- <= 0 && inner.save(authorization, revision, expected)
      },
    }
    const ended = await commit(moving, record.id, count, random).catch(
      ({ reason }: { reason: string }) => reason,
    )
    expect([ended, revisions.size]).toEqual([conflicts < 16 ? 1 : 'record_contended', 16])
  })

  it('rests nothing but a save on a record that may be out of date', async () => {
    const record = fresh()
    const { store, calls, ready, inner } = shelf(record)
    await ready()
    const cached = { authorization: record, revision: 'first' }
    expect(await commit(store, record.id, count, random, { cached })).toBe(1)
    expect(calls).toEqual(['save'])
    // Now it is out of date: the conflict leads to a read, and so does everything but a save.
    expect(await commit(store, record.id, count, random, { cached })).toBe(2)
    await inner.remove(record.id)
    await expect(commit(store, record.id, count, random, { cached })).rejects.toBe(gone)
    const missing: Transition<string> = (current) => ({
      action: 'none',
      outcome: current?.state ?? 'missing',
    })
    expect(await commit(store, record.id, missing, random, { cached })).toBe('missing')
  })

  it('completes an outcome before the write: after a failure nothing is written, and after a conflict it completes again', async () => {
    const record = fresh()
    const { store, inner, ready, counted } = shelf(record)
    await ready()
    const act = (complete: (outcome: number) => Promise<number>) =>
      commit(store, record.id, count, random, {
        complete: async (result) => ({ ...result, outcome: await complete(result.outcome) }),
      })
    await expect(act(() => Promise.reject(new Error('no signature')))).rejects.toThrow('no signature')
    expect(await counted()).toBe('0')
    let isFirst = true
    const signed = await act(async (outcome) => {
      if (isFirst) await commit(inner, record.id, count, random)
      isFirst = false
      return outcome * 10
    })
    expect([signed, await counted()]).toEqual([20, '2'])
  })

  it('uses up what counts once before a write that gives something or ends the record, and not for a mere refusal', async () => {
    const record = fresh()
    const { store, ready, counted } = shelf(record)
    await ready()
    const useUp = () => Promise.reject(new Throttled('too_many', 'Used.', 1))
    const withUse = (transition: Transition<unknown>) =>
      commit(store, record.id, transition, random, { useUp }).catch((error: unknown) => error)
    expect(await withUse(refuse)).toBe(gone)
    for (const transition of [count, remove, refuseAndRemove])
      expect(await withUse(transition)).toBeInstanceOf(Throttled)
    expect(await counted()).toBe('0')
  })

  it.each([true, false])('where nothing is there has a store that can confirm that: %p', async (isAbsent) => {
    const record = fresh()
    const { store } = shelf(record)
    let asked = 0
    const confirming = {
      ...store,
      confirmAbsent: async () => {
        asked++
        if (!isAbsent && asked === 1) await store.save(record, 'late')
        return asked > 1 || isAbsent
      },
    }
    const look: Transition<string> = (current) =>
      current === undefined ? { action: 'touch', refusal: gone } : { action: 'none', outcome: 'found' }
    const ended = await commit(confirming, record.id, look, random).catch((error: unknown) => error)
    expect([ended, asked]).toEqual([isAbsent ? gone : 'found', 1])
    expect(await commit(shelf(fresh()).store, record.id, look, random).catch((error: unknown) => error)).toBe(
      gone,
    )
  })

  it('ends what began with a one-time use without making its id free', async () => {
    const used = { ...fresh(), usedUntil: noon + 9000 }
    const { store, inner, ready } = shelf(used)
    await ready()
    expect(await commit(store, used.id, remove, random)).toBe('removed')
    expect((await inner.find(used.id))?.authorization).toMatchObject({
      accessTokens: [],
      usedUntil: noon + 9000,
    })
    await expect(begin(store, used, random)).rejects.toThrow('saved no authorization')
    const look: Transition<string> = (current) => ({ action: 'none', outcome: current?.state ?? 'missing' })
    expect(await commit(store, used.id, look, random)).toBe('missing')
  })
})

describe('A new authorization', () => {
  it('is stored once, overwrites nothing, and survives a lost reply', async () => {
    const record = fresh()
    const { store, counted } = shelf(record, { save: ['lost'] })
    await begin(store, record, random)
    expect(await counted()).toBe('0')
    await expect(begin(store, record, random)).rejects.toThrow(
      /does not resolve to true although no record is there.*or the source of random bytes repeats itself/,
    )
    await expect(begin(store, record, random, () => gone)).rejects.toBe(gone)
  })

  it('is ended by a removal, which is tried twice', async () => {
    const record = fresh()
    const { store, counted, ready } = shelf(record, { remove: ['failed', 'lost'] })
    await ready()
    await expect(end(store, record.id)).rejects.toThrow('remove failed')
    expect(await counted()).toBe('gone')
  })
})
