import { recordEvents, type RecordedEvent } from '../events'
import type { SetStage } from './stores-of-run'

/** A stage that records every event. */
export function recordingStage(stage: SetStage, ...how: Parameters<SetStage>) {
  const set = stage(...how)
  const recorded = recordEvents(set.oauth.events)
  const named = (event: RecordedEvent['event']) => recorded.filter((one) => one.event === event)
  return { ...set, recorded, named }
}
