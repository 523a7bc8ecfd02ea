import { begin, commit, end } from '../../lib/authorization/commit'
import type { CompleteResult, Transition } from '../../lib/authorization/transition'
import { deny } from '../../lib/authorization/decision'
import { secureRandom } from '../../lib/protocol/credential'
import { invalidGrant } from '../../lib/protocol/host-errors'
import type { AuthorizationStore, StoredAuthorization } from '../../lib/authorization/store'
import { memoryStore } from '../../lib/stores/memory-store'
import { pendingAuthorization } from '../support/authorization/authorization'
import { countedRandom, noon } from '../support/authorization/issue-context'

const { pending } = pendingAuthorization()
const denied = deny(pending)
const refused = invalidGrant('refused', 'No.')
const signedEvent = {
  name: 'issued',
  reason: undefined,
  scope: undefined,
  digest: 'signed',
  responseType: undefined,
} as const

/** A store in memory with the request in it; some of its calls behave differently. */
async function storeWith(bend: (store: AuthorizationStore) => Partial<AuthorizationStore> = () => ({})) {
  const store = memoryStore({ clock: () => noon * 1000 })
  await begin(store, pending, secureRandom)
  return {
    store: {
      find: store.find.bind(store),
      save: store.save.bind(store),
      remove: store.remove.bind(store),
      ...bend(store),
    },
    stored: async () => (await store.find(pending.id))?.authorization,
  }
}

const denies: Transition<string> = (current) =>
  current?.state === 'pending'
    ? { action: 'save', authorization: denied, outcome: 'denied' }
    : { action: 'none', outcome: `already ${current?.state ?? 'gone'}` }

const confirms: Transition<string> = (current) =>
  current === undefined ? { action: 'none', outcome: 'gone' } : { action: 'touch', outcome: 'confirmed' }

const revokes: Transition<string> = () => ({ action: 'delete', refusal: refused })

const apply = <Outcome>(store: AuthorizationStore, transition: Transition<Outcome>) =>
  commit(store, pending.id, transition, secureRandom)

/** A denial that loses against so many other writers first. */
async function denyAfterConflicts(times: number) {
  let saves = 0
  const { store } = await storeWith((inner) => ({
    save: async (...words) => ++saves > times && inner.save(...words),
  }))
  return apply(store, denies)
}

describe('commit', () => {
  it('saves the record that the transition decides on, and returns its outcome', async () => {
    const { store, stored } = await storeWith()
    await expect(apply(store, denies)).resolves.toBe('denied')
    await expect(stored()).resolves.toEqual(denied)
  })

  it('rests nothing but a save on what the caller believes to be there', async () => {
    const { store, stored } = await storeWith()
    const believed = { authorization: denied, revision: 'b'.repeat(22) }
    const commitOn = (transition: Transition<string>) =>
      commit(store, pending.id, transition, secureRandom, believed)
    await expect(
      commitOn((current) => ({ action: 'none', outcome: current?.state ?? 'gone' })),
    ).resolves.toBe('pending')
    await expect(
      commitOn((current) => ({ action: 'touch', outcome: current?.state ?? 'gone' })),
    ).resolves.toBe('pending')
    await expect(
      commitOn((current) => ({ action: 'save', authorization: denied, outcome: current?.state ?? 'gone' })),
    ).resolves.toBe('pending')
    await expect(
      commitOn((current) => ({ action: 'delete', outcome: current === undefined ? 'gone' : 'there' })),
    ).resolves.toBe('there')
    await expect(stored()).resolves.toBeUndefined()
  })

  it('completes the outcome before the write, and reports the completed event', async () => {
    const { store, stored } = await storeWith()
    const seen: unknown[] = []
    const complete: CompleteResult<string> = async (result, current) => {
      seen.push([current, await stored()])
      return { ...result, outcome: `${result.outcome} and signed`, event: signedEvent }
    }
    const onCommitted = jest.fn()
    const outcome = await commit(store, pending.id, denies, secureRandom, undefined, onCommitted, complete)
    expect(outcome).toBe('denied and signed')
    expect(seen).toEqual([[pending, pending]])
    expect(onCommitted.mock.calls).toEqual([[{ authorization: pending, event: signedEvent }]])
    expect(await stored()).toEqual(denied)
  })

  it('writes nothing if the completion fails, and completes no refusal and no unconfirmed result', async () => {
    const { store, stored } = await storeWith()
    const complete = jest.fn(() => Promise.reject(new Error('The signer is gone.')))
    const attempt = (transition: Transition<string>, cached?: StoredAuthorization) =>
      commit(store, pending.id, transition, secureRandom, cached, undefined, complete)
    await expect(attempt(denies)).rejects.toThrow('The signer is gone.')
    await expect(attempt(confirms)).rejects.toThrow('The signer is gone.')
    expect(await stored()).toEqual(pending)
    expect(complete).toHaveBeenCalledTimes(2)
    const believed = { authorization: denied, revision: 'b'.repeat(22) }
    await expect(attempt(denies, believed)).rejects.toThrow('The signer is gone.')
    expect(complete).toHaveBeenCalledTimes(3)
    await expect(attempt(revokes)).rejects.toBe(refused)
    expect(complete).toHaveBeenCalledTimes(3)
  })

  it('completes again after a conflict', async () => {
    let saves = 0
    const { store } = await storeWith((inner) => ({
      save: async (...words) => ++saves > 1 && inner.save(...words),
    }))
    let completions = 0
    const complete: CompleteResult<string> = async (result) => ({
      ...result,
      outcome: `${result.outcome} ${++completions}`,
    })
    const outcome = await commit(store, pending.id, denies, secureRandom, undefined, undefined, complete)
    expect(outcome).toBe('denied 2')
  })

  it('writes nothing when the transition writes nothing', async () => {
    const { store } = await storeWith(() => ({ save: () => Promise.reject(new Error('Not to be called.')) }))
    await expect(apply(store, () => ({ action: 'none', outcome: 'looked' }))).resolves.toBe('looked')
  })

  it('takes a save whose reply was lost for done when the record is its own', async () => {
    let saves = 0
    const { store, stored } = await storeWith((inner) => ({
      save: async (...words) => {
        const reply = await inner.save(...words)
        if (++saves > 1) return reply
        throw new Error('The reply was lost.')
      },
    }))
    await expect(apply(store, denies)).resolves.toBe('denied')
    await expect(stored()).resolves.toEqual(denied)
  })

  it('delivers nothing while the store says of its save that it is not safe, though the record is there', async () => {
    const trouble = new Error('Too few replicas.')
    const { store, stored } = await storeWith((inner) => ({
      save: async (...words) => {
        await inner.save(...words)
        throw trouble
      },
    }))
    await expect(apply(store, denies)).rejects.toBe(trouble)
    await expect(stored()).resolves.toEqual(denied)
  })

  it('does nothing after a failure that it would not do before', async () => {
    const trouble = new Error('Not reached.')
    let saves = 0
    const { store, stored } = await storeWith((inner) => ({
      save: async (...words) => {
        if (++saves > 1) return inner.save(...words)
        throw trouble
      },
    }))
    await expect(apply(store, denies)).rejects.toBe(trouble)
    await expect(stored()).resolves.toEqual(pending)
  })

  it('confirms a record by saving it again as it is, under its own revision', async () => {
    const { store, stored } = await storeWith()
    const before = await store.find(pending.id)
    const saves = jest.spyOn(store, 'save')
    await expect(apply(store, () => ({ action: 'touch', outcome: 'confirmed' }))).resolves.toBe('confirmed')
    expect(saves.mock.calls).toEqual([[pending, before?.revision, before?.revision]])
    await expect(stored()).resolves.toEqual(pending)
  })

  it('decides anew when the record that it confirms has moved on', async () => {
    const { store } = await storeWith((inner) => ({
      find: async (id) => {
        const found = await inner.find(id)
        await inner.remove(id)
        return found
      },
    }))
    await expect(apply(store, confirms)).resolves.toBe('gone')
  })

  it('gives the transition the record that it lost a round with', async () => {
    const seen: unknown[] = []
    let saves = 0
    const { store } = await storeWith((inner) => ({
      save: async (...words) => ++saves > 1 && inner.save(...words),
    }))
    await apply(store, (current, superseded) => {
      seen.push(superseded)
      return denies(current)
    })
    expect(seen).toEqual([undefined, pending])
  })

  it('removes the record', async () => {
    const { store, stored } = await storeWith()
    await expect(apply(store, () => ({ action: 'delete', outcome: 'revoked' }))).resolves.toBe('revoked')
    await expect(stored()).resolves.toBeUndefined()
  })

  it('shows the transition nothing when there is no record', async () => {
    const { store } = await storeWith()
    await store.remove(pending.id)
    await expect(apply(store, denies)).resolves.toBe('already gone')
  })

  it('throws a refusal', async () => {
    const { store } = await storeWith()
    await expect(apply(store, () => ({ action: 'none', refusal: refused }))).rejects.toBe(refused)
  })

  it('throws a refusal after what it wanted written is written', async () => {
    const { store, stored } = await storeWith()
    await expect(
      apply(store, () => ({ action: 'save', authorization: denied, refusal: refused })),
    ).rejects.toBe(refused)
    await expect(stored()).resolves.toEqual(denied)
    await expect(apply(store, () => ({ action: 'delete', refusal: refused }))).rejects.toBe(refused)
    await expect(stored()).resolves.toBeUndefined()
  })

  it('lets one of two writers win, and the other decide anew on what the first wrote', async () => {
    const { store } = await storeWith()
    const outcomes = await Promise.all([apply(store, denies), apply(store, denies)])
    expect(outcomes.toSorted()).toEqual(['already denied', 'denied'])
  })

  it('does not write back what was removed meanwhile [revocation-5]', async () => {
    const { store, stored } = await storeWith((inner) => ({
      find: async (id) => {
        const found = await inner.find(id)
        await inner.remove(id)
        return found
      },
    }))
    await expect(apply(store, denies)).resolves.toBe('already gone')
    await expect(stored()).resolves.toBeUndefined()
  })

  it('knows a save that is sent twice for its own: a lost reply is no conflict', async () => {
    const { store } = await storeWith((inner) => ({
      save: async (...words) => {
        await inner.save(...words)
        return inner.save(...words)
      },
    }))
    await expect(apply(store, denies)).resolves.toBe('denied')
  })

  it('names another revision in each round', async () => {
    const revisions: string[] = []
    const { store } = await storeWith((inner) => ({
      save: async (authorization, revision, expected) => {
        revisions.push(revision)
        return revisions.length > 3 && inner.save(authorization, revision, expected)
      },
    }))
    await apply(store, denies)
    expect(new Set(revisions).size).toBe(4)
    expect(revisions.every((revision) => /^[\w-]{22}$/.test(revision))).toBe(true)
  })

  it('wins in the sixteenth round still, and gives up after it', async () => {
    await expect(denyAfterConflicts(15)).resolves.toBe('denied')
    await expect(denyAfterConflicts(16)).rejects.toMatchObject({
      code: 'temporarily_unavailable',
      reason: 'authorization_contended',
    })
  })

  it.each(['find', 'save', 'remove'] as const)(
    'passes on the error of %s, never as a refusal',
    async (verb) => {
      const trouble = new Error('ECONNRESET')
      const { store } = await storeWith(() => ({ [verb]: () => Promise.reject(trouble) }))
      await expect(apply(store, verb === 'remove' ? revokes : denies)).rejects.toBe(trouble)
    },
  )
})

/** A store from which the request is gone. */
async function gone(): Promise<AuthorizationStore> {
  const { store } = await storeWith()
  await store.remove(pending.id)
  return store
}

describe('commit, where nothing is there', () => {
  it('has the store confirm that, before the refusal', async () => {
    const confirmAbsent = jest.fn(async () => true)
    const store = { ...(await gone()), confirmAbsent }
    await expect(apply(store, () => ({ action: 'touch', refusal: refused }))).rejects.toBe(refused)
    expect(confirmAbsent.mock.calls).toEqual([[pending.id]])
  })

  it('needs no such verb of the store', async () => {
    await expect(apply(await gone(), () => ({ action: 'touch', outcome: 'gone' }))).resolves.toBe('gone')
  })

  it('decides anew when the record is there after all', async () => {
    const store = await gone()
    const confirmAbsent = async () => {
      await store.save(pending, 'r'.repeat(22))
      return false
    }
    await expect(
      apply({ ...store, confirmAbsent }, (current) => ({
        action: 'touch',
        outcome: current?.state ?? 'gone',
      })),
    ).resolves.toBe('pending')
  })

  it('passes on the error of the store in place of the refusal', async () => {
    const trouble = new Error('Too few replicas.')
    const store = { ...(await gone()), confirmAbsent: () => Promise.reject(trouble) }
    await expect(apply(store, () => ({ action: 'touch', refusal: refused }))).rejects.toBe(trouble)
  })
})

describe('end', () => {
  it('removes once more when the reply of the removal was lost', async () => {
    let removals = 0
    const { store, stored } = await storeWith((inner) => ({
      remove: async (id) => {
        await inner.remove(id)
        if (++removals === 1) throw new Error('The reply was lost.')
      },
    }))
    await end(store, pending.id)
    expect(removals).toBe(2)
    await expect(stored()).resolves.toBeUndefined()
  })

  it('gives up after the second removal, with the error of the first', async () => {
    const troubles = [new Error('first'), new Error('second')]
    const [first] = troubles
    const { store } = await storeWith(() => ({ remove: () => Promise.reject(troubles.shift()) }))
    await expect(end(store, pending.id)).rejects.toBe(first)
    expect(troubles).toEqual([])
  })
})

describe('begin', () => {
  it('stores an authorization that is not there yet', async () => {
    const store = memoryStore({ clock: () => noon * 1000 })
    await begin(store, pending, secureRandom)
    await expect(store.find(pending.id)).resolves.toHaveProperty('authorization', pending)
  })

  it('overwrites nothing, and names both possible causes: the store and the random source', async () => {
    const { store, stored } = await storeWith()
    await expect(begin(store, denied, secureRandom)).rejects.toThrow(
      /save\(\) does not resolve to true although no record is there.* or the source of random bytes repeats itself/,
    )
    await expect(stored()).resolves.toEqual(pending)
  })

  it('takes its own save sent twice for one', async () => {
    const store = memoryStore({ clock: () => noon * 1000 })
    await begin(store, pending, countedRandom())
    await expect(begin(store, pending, countedRandom())).resolves.toBeUndefined()
  })
})
