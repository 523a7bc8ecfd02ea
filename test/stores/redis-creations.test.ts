import { Creations } from '../../lib/stores/redis/writes'

const patience = 2000
const hour = 3_600_000

/** A Redis with one key, as its script sees it, whose clock and the stopwatch of the process have nothing in common. */
function stage() {
  const at = { stopwatch: 5, redis: 1.7e12 }
  const deadlines: number[] = []
  let stored: string | undefined
  const run = async (_script: unknown, _key: string, ...words: string[]): Promise<number> => {
    const [revision, , , deadline] = words
    deadlines.push(Number(deadline))
    if (stored !== undefined && stored !== revision) return 0
    if (stored === undefined && at.redis > Number(deadline)) return -at.redis
    stored = revision
    return at.redis
  }
  const creations = new Creations({ run, patience, stopwatch: () => at.stopwatch })
  const create = async (revision = 'a') => creations.create('key', revision, '[]', '1000')
  const remove = () => void (stored = undefined)
  return { at, deadlines, create, remove, creations }
}

describe('A create', () => {
  it('asks Redis for its time once, and takes its deadline from each reply after it', async () => {
    const { at, deadlines, create, remove } = stage()
    expect(await create()).toBe(1)
    remove()
    at.stopwatch += 50
    at.redis += 50
    expect(await create()).toBe(1)
    expect(deadlines).toEqual([0, 1.7e12 + patience, 1.7e12 + 50 + patience])
  })

  it.each([hour, -hour, 10 * patience, -10 * patience])(
    'is done although the clock of Redis was set by %i ms, and knows that from then on',
    async (step) => {
      const { at, deadlines, create, remove } = stage()
      await create()
      at.redis += step
      for (let round = 0; round < 2; round++) {
        remove()
        expect(await create()).toBe(1)
      }
      expect(deadlines.at(-1)).toBe(1.7e12 + step + patience)
    },
  )

  it('finds itself, whenever it is sent again, and another writer', async () => {
    const { create } = stage()
    expect(await create('a')).toBe(1)
    expect(await create('a')).toBe(1)
    expect(await create('b')).toBe(0)
  })

  it('that reached Redis too late rejects, and is not sent again', async () => {
    let now = 0
    let sent = 0
    const run = async (): Promise<number> => {
      sent += 1
      now += patience
      return -1.7e12
    }
    const creations = new Creations({ run, patience, stopwatch: () => now })
    await expect(creations.create('key', 'a', '[]', '1000')).rejects.toThrow('reached Redis too late')
    expect(sent).toBe(1)
  })
})
