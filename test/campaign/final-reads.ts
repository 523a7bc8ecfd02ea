import { grantedBy, groupsOf, type Act, type Attempt } from './history'
import type { Recorder } from './recorder'

const several = 8

/** Presents everything once more, at each process, when all faults are over and all that is late has come. */
export async function finalReads(recorder: Recorder): Promise<void> {
  const lines = groupsOf(recorder.attempts, ({ line }) => line).entries()
  const look = async (): Promise<void> => {
    // Several look, who share the one list.
    for (const [turn, attempts] of lines) await lookAt(recorder, attempts, turn)
  }
  await Promise.all(Array.from({ length: several }, look))
}

async function lookAt(recorder: Recorder, attempts: readonly Attempt[], turn: number): Promise<void> {
  const line = attempts[0]?.line ?? 0
  const granted = (...acts: readonly Act[]): readonly (readonly string[])[] =>
    attempts.filter(({ act }) => acts.includes(act)).map(grantedBy)
  const present = async (act: Act, credentials: readonly string[], at = turn): Promise<void> => {
    for (const credential of new Set(credentials)) await recorder.attempt(at, line, act, credential)
  }
  const pairs = granted('redeem', 'refresh', 'poll')
  const accessTokens = [...pairs, ...granted('grant')].flatMap((pair) => pair.slice(0, 1))
  for (let server = 0; server < recorder.servers; server += 1) await present('guard', accessTokens, server)
  for (const act of ['configure', 'authenticate'] as const) await present(act, granted('register').flat())
  // The last one: an earlier one would end the authorization.
  await present('refresh', pairs.flatMap((pair) => pair.slice(1)).slice(-1))
  await present('decide', granted('ask').flat())
  // A code that was redeemed ends its authorization now, and whatever came of it.
  await present('redeem', granted('decide').flat())
  await present('guard', accessTokens)
}
