import { servers, type Server } from './servers'
import { workloads, type Story } from './story'

/** What a command was asked to look at. */
export interface Chosen {
  readonly target: Server
  readonly story: Story
}

/** The workload and the server that are named behind `npm run NAME --`. @throws Error that lists those that there are. */
export function chosenFor(command: string, [workloadName, targetName]: readonly string[]): Chosen {
  const workload = workloads.find((name) => name === workloadName)
  const target = servers.find(({ name }) => name === targetName)
  const story = workload && target?.stories[workload]
  if (target !== undefined && story !== undefined) return { target, story }
  const names = servers.map(({ name }) => name)
  throw new Error(`npm run ${command} -- ${workloads.join('|')} "${names.join('"|"')}"`)
}
