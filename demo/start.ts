import { announcement } from './announcement'
import { CannotStart } from './cannot-start'
import { startDemo, type DemoOptions } from './demo'
import { described, usualStore } from './storage'

async function start(): Promise<void> {
  const storeUrl = process.env['STORE_URL'] ?? usualStore()
  const demo = await startDemo({ ports: portsFrom(process.env['PORT'] || '3000'), storeUrl })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => demo.stop().catch(fail))
  console.log(announcement(demo, described(storeUrl)))
}

function portsFrom(text: string): Required<DemoOptions>['ports'] {
  const first = Number(text)
  if (!Number.isInteger(first) || first < 0 || first > 65_530)
    throw new CannotStart(
      `PORT is "${text}": name the first of seven free ports, as in PORT=4000 npm run demo.`,
    )
  const port = (offset: number) => (first === 0 ? 0 : first + offset)
  return {
    authorizationServer: port(0),
    client: port(1),
    resourceServer: port(2),
    relyingParty: port(3),
    postcards: port(4),
    attackLab: port(5),
    television: port(6),
  }
}

function fail(error: unknown): void {
  console.error(error instanceof CannotStart ? error.message : error)
  process.exitCode = 1
}

start().catch(fail)
