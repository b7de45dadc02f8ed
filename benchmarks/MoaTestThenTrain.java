import com.yahoo.labs.samoa.instances.Attribute;
import com.yahoo.labs.samoa.instances.DenseInstance;
import com.yahoo.labs.samoa.instances.Instance;
import com.yahoo.labs.samoa.instances.InstanceImpl;
import com.yahoo.labs.samoa.instances.Instances;
import com.yahoo.labs.samoa.instances.InstancesHeader;
import com.yahoo.labs.samoa.instances.SparseInstance;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import moa.classifiers.Classifier;
import moa.options.ClassOption;

/**
 * Binary relevance of a MOA classifier, test-then-train, inside Java: one warm-up pass, then timed passes.
 *
 * <p>Arguments: file of rows, MOA's line for the classifier, "dense" or "sparse", number of timed passes. The file holds
 * rows, features and labels as big-endian ints, then a row of doubles after the other, labels last. Prints the share of
 * right label decisions, and the CPU seconds of this thread in each timed pass: what else the machine does, and what the
 * JVM compiles and collects in other threads, is not counted.
 */
public class MoaTestThenTrain {
    private static final int N_CLASSES = 2;

    private final double[][] features;
    private final int[][] labels;
    private final InstancesHeader header;
    private final boolean sparse;

    private MoaTestThenTrain(String path, boolean sparse) throws IOException {
        this.sparse = sparse;
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(path), 1 << 20))) {
            int nRows = in.readInt(), nFeatures = in.readInt(), nLabels = in.readInt();
            features = new double[nRows][nFeatures];
            labels = new int[nRows][nLabels];
            for (int row = 0; row < nRows; row++) {
                for (int j = 0; j < nFeatures; j++) features[row][j] = in.readDouble();
                for (int j = 0; j < nLabels; j++) labels[row][j] = (int) in.readDouble();
            }
            header = makeHeader(nFeatures);
        }
    }

    private static InstancesHeader makeHeader(int nFeatures) {
        List<Attribute> attributes = new ArrayList<>();
        for (int j = 0; j < nFeatures; j++) attributes.add(new Attribute("x" + j));
        attributes.add(new Attribute("y", List.of("0", "1")));
        InstancesHeader header = new InstancesHeader(new Instances("rows", attributes, 0));
        header.setClassIndex(nFeatures);
        return header;
    }

    /** Make the rows beforehand; a row's instance serves all labels, its class is set before each is learnt. */
    private Instance[] makeInstances() {
        Instance[] instances = new Instance[features.length];
        for (int row = 0; row < instances.length; row++) {
            double[] values = Arrays.copyOf(features[row], features[row].length + 1);
            InstanceImpl instance = sparse ? new SparseInstance(1.0, values) : new DenseInstance(1.0, values);
            instance.setDataset(header);
            instances[row] = instance;
        }
        return instances;
    }

    private Classifier[] makeModels(String line) throws Exception {
        Classifier[] models = new Classifier[labels[0].length];
        for (int label = 0; label < models.length; label++) {
            models[label] = (Classifier) ClassOption.cliStringToObject(line, Classifier.class, null);
            models[label].setRandomSeed(label + 1);
            models[label].setModelContext(header);
            models[label].prepareForUse();
        }
        return models;
    }

    /** Test, then train; return the number of right decisions. */
    private long pass(Classifier[] models, Instance[] instances) {
        long right = 0;
        for (int row = 0; row < instances.length; row++) {
            Instance instance = instances[row];
            for (int label = 0; label < models.length; label++) {
                double[] votes = models[label].getVotesForInstance(instance);
                int decided = votes.length == N_CLASSES && votes[1] > votes[0] ? 1 : 0;
                if (decided == labels[row][label]) right++;
                instance.setClassValue(labels[row][label]);
                models[label].trainOnInstance(instance);
            }
        }
        return right;
    }

    public static void main(String[] args) throws Exception {
        MoaTestThenTrain rows = new MoaTestThenTrain(args[0], args[2].equals("sparse"));
        Instance[] instances = rows.makeInstances();
        double nDecisions = (double) instances.length * rows.labels[0].length;
        System.out.println(rows.pass(rows.makeModels(args[1]), instances) / nDecisions);
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        for (int turn = 0; turn < Integer.parseInt(args[3]); turn++) {
            Classifier[] models = rows.makeModels(args[1]);
            long began = clock.getCurrentThreadCpuTime();
            rows.pass(models, instances);
            System.out.println((clock.getCurrentThreadCpuTime() - began) / 1e9);
        }
    }
}
