import { setTimeout } from 'node:timers/promises'

// Seconds. A machine under load takes less; what takes longer hangs.
const patience = 120

export async function waitUntil(
  what: string,
  check: () => Promise<boolean>,
  seconds = patience,
): Promise<void> {
  const deadline = performance.now() + seconds * 1000
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`Waited ${seconds} s in vain until ${what}.`)
    await setTimeout(20)
  }
}

/**
 * Settles as a promise does, and is an error when that takes too long.
 *
 * @param state what else to say then, such as the output of a program.
 */
export async function within<Value>(
  what: string,
  promise: Promise<Value>,
  state: () => string = () => '',
  seconds = patience,
): Promise<Value> {
  const settled = new AbortController()
  const late = async (): Promise<never> => {
    await setTimeout(seconds * 1000, undefined, { signal: settled.signal })
    throw new Error(`Waited ${seconds} s in vain until ${what}.\n${state()}`.trim())
  }
  try {
    return await Promise.race([promise, late()])
  } finally {
    settled.abort()
  }
}
