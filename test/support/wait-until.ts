import { setTimeout } from 'node:timers/promises'

export async function waitUntil(what: string, check: () => Promise<boolean>, seconds = 120): Promise<void> {
  const deadline = performance.now() + seconds * 1000
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`Waited ${seconds} s in vain until ${what}.`)
    await setTimeout(20)
  }
}
