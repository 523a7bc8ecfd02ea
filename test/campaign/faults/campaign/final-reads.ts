import { grantedBy, groupsOf, type Act, type Attempt } from '../history'
import type { Recorder } from '../recorder'

const several = 8

/** Presents everything once more, at both processes, when all faults are over and all that is late has come. */
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
  const granted = (act: Act): readonly string[] =>
    attempts.filter((attempt) => attempt.act === act).flatMap(grantedBy)
  const present = async (act: Act, credentials: readonly string[]): Promise<void> => {
    for (const credential of new Set(credentials)) await recorder.attempt(turn, line, act, credential)
  }
  const pairs = attempts.filter(({ act }) => act === 'redeem' || act === 'refresh').map(grantedBy)
  const accessTokens = [...pairs.map(([accessToken]) => accessToken ?? ''), ...granted('grant')].filter(
    Boolean,
  )
  await present('guard', accessTokens)
  await present('configure', granted('register'))
  await present('authenticate', granted('register'))
  // The last one: an earlier one would end the authorization.
  await present('refresh', pairs.flatMap((pair) => pair.slice(1)).slice(-1))
  await present('decide', granted('ask'))
  // A code that was redeemed ends its authorization now, and whatever came of it.
  await present('redeem', granted('decide'))
  await present('guard', accessTokens)
}
