import { heardFrom, type Heard } from '../events'
import type { SetStage } from './stores-of-run'

/** A stage of which every event is heard. */
export function heardOn(stage: SetStage, ...how: Parameters<SetStage>) {
  const set = stage(...how)
  const heard = heardFrom(set.oauth.events)
  const named = (event: Heard['event']) => heard.filter((one) => one.event === event)
  return { ...set, heard, named }
}
