/** What `npm start` needs of a disk, GB, as measured; everything that speaks of it takes it from here. */

/** Go's modules 1.4 and build cache 1.8, the engine 0.1; where Pulumi is there already, nothing. */
export const ENGINE_GB = 4;
/** The image of the local nodes 0.9, the four nodes of the stack after a run 0.9. `lab check` asks for the same. */
export const NODES_GB = 2;
export const START_GB = ENGINE_GB + NODES_GB;
