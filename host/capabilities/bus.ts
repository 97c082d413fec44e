/** `bus`: publishing. Its effects are carried out by the bus itself, once a message has committed. */
export const permission = 'bus:publish';
