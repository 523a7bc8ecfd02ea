import type { Redis } from 'ioredis'

/**
 * Lets time pass for the dynamic clients of one server: in the lifetimes that Redis counts down, and in the times that
 * stand in sorted sets.
 */
export async function letPass(master: Redis, prefix: string, seconds: number): Promise<void> {
  for (const key of await master.keys(`${prefix}*`)) {
    const left = await master.pttl(key)
    if (left >= 0) await master.pexpire(key, left - seconds * 1000)
    // A hash of names, and a count of clients, hold no times.
    else if (!key.endsWith('-unused') && !key.endsWith('-networks'))
      await moveScores(master, key, -seconds * 1000)
  }
}

async function moveScores(master: Redis, key: string, milliseconds: number): Promise<void> {
  const commands = master.pipeline()
  for (const member of await master.zrange(key, '0', '-1'))
    commands.zincrby(key, String(milliseconds), member)
  await commands.exec()
}
