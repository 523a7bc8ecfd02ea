import type { Test } from 'supertest'

/** The status that a request is answered with. */
export async function statusOf(test: Test): Promise<number> {
  return (await test).status
}

/** Status and body. */
export async function answerOf(test: Test): Promise<{ readonly status: number; readonly text: string }> {
  const { status, text } = await test
  return { status, text }
}
