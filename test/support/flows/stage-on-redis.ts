import { onRedis, stageOn } from './stores-of-run'

/** The canonical host application on a real Redis, where each test has keys of its own. */
export const setStage = stageOn(onRedis())
