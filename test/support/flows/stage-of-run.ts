import { stageOn, storesHere } from './stores-of-run'

/** The canonical host application on the store of the run, where each test has keys of its own. */
export const setStage = stageOn(storesHere())
